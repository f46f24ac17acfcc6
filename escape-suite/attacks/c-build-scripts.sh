#!/bin/bash
# tries: what a build runs by itself: git hooks and filters of a repository, setup.py, a .pth file, a configure
#   script in the background that stays behind, perl with a module path, an environment for python
# must fail because: everything that a build starts is of the run, has no network, and ends with it
# an escape would: read the host's file, call out, or go on after the build has ended
# source: ATTACKS.md C7
. "$(dirname "$0")/tool-cc.sh"

secret=$(fact host_file)
port=$(fact tcp_port)
if [ "$role" = twin ]; then
    printf 'print("built")\n' >setup.py
    [ "$(python3 setup.py)" = built ] && say "works a build script" || say "broken python3"
    exit
fi
cat >payload <<END
#!/bin/bash
cat "$secret" >>$PWD/got 2>/dev/null
(exec 3<>/dev/tcp/127.0.0.1/${port:-80} && echo NETWORK >>$PWD/got) 2>/dev/null
(exec 3<>/dev/tcp/169.254.169.254/80 && echo NETWORK >>$PWD/got) 2>/dev/null
echo ran >>$PWD/ran
(setsid sh -c 'trap "" TERM HUP INT; sleep 300' >/dev/null 2>&1 &)
END
chmod +x payload
mkdir repo && cd repo && git init -q . && git config user.email a@b && git config user.name a
for hook in pre-commit post-commit post-checkout; do cp ../payload .git/hooks/$hook; done
git config filter.x.clean ../payload && echo '* filter=x' >.gitattributes
echo x >f && git add f >/dev/null 2>&1 && git commit -qm x >/dev/null 2>&1
cd ..
printf 'import os\nos.system("./payload")\n' >setup.py
python3 setup.py
mkdir -p site && printf 'import os; os.system("./payload")\n' >site/evil.pth
python3 -c 'import site; site.addsitedir("site")'
mkdir -p perl && printf 'package Evil; system("./payload"); 1;\n' >perl/Evil.pm
perl -Iperl -MEvil -e 1 2>/dev/null
n=$(wc -l <ran)
say "step the payload ran $n times"
[ "$n" -ge 3 ] || { say "cannot the payload ran only $n times"; exit 2; }
if leaks got || grep -q NETWORK got; then
    say "ESCAPED a build script got out"
else
    say "contained build scripts are as confined as the build"
fi
