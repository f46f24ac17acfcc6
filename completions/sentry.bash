# bash completion for sentry(1)
_sentry()
{
    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} command=${COMP_WORDS[1]:-}
    local commands="run exec ps kill pause resume stats list import pull images rmi prune doctor syscalls version help"
    local run="--env --name --workdir --hostname --user --writable --tmpfs --volume --policy --timeout
        --cpu-time --memory --cpus --cgroup --pids --files --file-size --disk --output --report --capture
        --strace --log --tty --platform"
    COMPREPLY=()
    if [ "$COMP_CWORD" -eq 1 ]; then
        mapfile -t COMPREPLY < <(compgen -W "$commands" -- "$cur")
        return
    fi
    case $command:$prev in
    run:--cgroup) mapfile -t COMPREPLY < <(compgen -W "auto v2 v1 none" -- "$cur") && return ;;
    run:--platform) mapfile -t COMPREPLY < <(compgen -W "auto unotify" -- "$cur") && return ;;
    run:--policy | run:--report | run:--volume) compopt -o default && return ;;
    esac
    case $command:$cur in
    run:-*) mapfile -t COMPREPLY < <(compgen -W "$run" -- "$cur") ;;
    exec:-*) mapfile -t COMPREPLY < <(compgen -W "--env --workdir --user --tty" -- "$cur") ;;
    import:-*) mapfile -t COMPREPLY < <(compgen -W "--max-size" -- "$cur") ;;
    pull:-*) mapfile -t COMPREPLY < <(compgen -W "--max-size --tls-verify=false" -- "$cur") ;;
    kill:-*) mapfile -t COMPREPLY < <(compgen -W "-s --all" -- "$cur") ;;
    ps:-* | stats:-* | list:-* | images:-* | syscalls:-*) mapfile -t COMPREPLY < <(compgen -W "--json" -- "$cur") ;;
    exec:* | ps:* | kill:* | pause:* | resume:* | stats:*)
        mapfile -t COMPREPLY < <(compgen -W "$(sentry list 2>/dev/null | awk 'NR > 1 { print $1 }')" -- "$cur")
        ;;
    run:* | rmi:*)
        mapfile -t COMPREPLY < <(compgen -W "$(sentry images 2>/dev/null |
            awk 'NR > 1 { for (i = 3; i <= NF; i++) if ($i != "-") print $i }')" -- "$cur")
        compopt -o default
        ;;
    help:*) mapfile -t COMPREPLY < <(compgen -W "run exec" -- "$cur") ;;
    import:*) compopt -o default ;;
    esac
}
complete -F _sentry sentry
