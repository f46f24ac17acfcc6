# fish completion for sentry(1)
function __sentry_images
    sentry images 2>/dev/null | awk 'NR > 1 { for (i = 3; i <= NF; i++) if ($i != "-") print $i }'
end
function __sentry_sandboxes
    sentry list 2>/dev/null | awk 'NR > 1 { print $1 }'
end
complete -c sentry -n __fish_use_subcommand -f -a run -d 'run a program in a sandbox'
complete -c sentry -n __fish_use_subcommand -f -a exec -d 'one more process in a running sandbox'
complete -c sentry -n __fish_use_subcommand -f -a ps -d 'processes of a sandbox'
complete -c sentry -n __fish_use_subcommand -f -a kill -d 'a signal to a sandbox'
complete -c sentry -n __fish_use_subcommand -f -a pause -d 'hold all processes'
complete -c sentry -n __fish_use_subcommand -f -a resume -d 'let them go on'
complete -c sentry -n __fish_use_subcommand -f -a stats -d 'what a sandbox uses'
complete -c sentry -n __fish_use_subcommand -f -a list -d 'running sandboxes'
complete -c sentry -n __fish_use_subcommand -f -a import -d 'an image into the store'
complete -c sentry -n __fish_use_subcommand -f -a pull -d 'an image of a registry into the store'
complete -c sentry -n __fish_use_subcommand -f -a images -d 'what is in the store'
complete -c sentry -n __fish_use_subcommand -f -a rmi -d 'take images out of the store'
complete -c sentry -n __fish_use_subcommand -f -a prune -d 'remove what no name leads to'
complete -c sentry -n __fish_use_subcommand -f -a doctor -d 'what this host offers'
complete -c sentry -n __fish_use_subcommand -f -a syscalls -d 'the system calls'
complete -c sentry -n __fish_use_subcommand -f -a version -d 'the version'
complete -c sentry -n __fish_use_subcommand -f -a help -d 'help'
for o in env name workdir hostname user tmpfs volume policy timeout cpu-time memory cpus pids files \
    file-size disk output report log
    complete -c sentry -n '__fish_seen_subcommand_from run' -l $o -r
end
complete -c sentry -n '__fish_seen_subcommand_from run' -l cgroup -x -a 'auto v2 v1 none'
complete -c sentry -n '__fish_seen_subcommand_from run' -l platform -x -a 'auto unotify'
for o in writable capture strace tty
    complete -c sentry -n '__fish_seen_subcommand_from run' -l $o
end
for o in env workdir user
    complete -c sentry -n '__fish_seen_subcommand_from exec' -l $o -r
end
complete -c sentry -n '__fish_seen_subcommand_from exec' -l tty
complete -c sentry -n '__fish_seen_subcommand_from kill' -s s -r
complete -c sentry -n '__fish_seen_subcommand_from kill' -l all
complete -c sentry -n '__fish_seen_subcommand_from ps stats list images syscalls' -l json
complete -c sentry -n '__fish_seen_subcommand_from import pull' -l max-size -x
complete -c sentry -n '__fish_seen_subcommand_from pull' -l tls-verify -x -a 'true false'
complete -c sentry -n '__fish_seen_subcommand_from run rmi' -a '(__sentry_images)'
complete -c sentry -n '__fish_seen_subcommand_from exec ps kill pause resume stats' -f -a '(__sentry_sandboxes)'
complete -c sentry -n '__fish_seen_subcommand_from help' -f -a 'run exec'
