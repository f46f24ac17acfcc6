#!/bin/sh
# tries: the network programs of busybox (wget, nc, ping, nslookup, ip, ifconfig, traceroute, ftpget, telnet, httpd)
#   against the canaries on loopback, the metadata address and a name server
# must fail because: every one of them needs an AF_INET, AF_PACKET or AF_NETLINK socket that leads somewhere
# an escape would: get a byte from outside, by tools that are in every image
# source: ATTACKS.md N6
role=$1
shift
for f; do
    case $f in
    tcp_port=*) port=${f#*=} ;;
    udp_port=*) udp=${f#*=} ;;
    esac
done
if [ "$role" = twin ]; then
    [ "$(echo abc | tr a-c b-d | cat)" = bcd ] || { echo "broken a pipeline of tools"; exit 1; }
    [ -n "$(hostname)" ] || { echo "broken hostname"; exit 1; }
    echo "works a pipeline of tools"
    exit 0
fi
[ "$SENTRY_SUITE" = 1 ] || { echo "cannot not run by escape-suite"; exit 2; }
got=0
try() {
    if out=$(timeout -s KILL 2 "$@" 2>&1 </dev/null); then
        got=$((got + 1))
        echo "step worked: $* ($(echo "$out" | head -n 1))"
    else
        echo "step $1: $(echo "$out" | tail -n 1)"
    fi
}
try wget -q -T 1 -O - "http://127.0.0.1:$port/"
try wget -q -T 1 -O - http://169.254.169.254/latest/meta-data/
try nc -w 1 127.0.0.1 "$port"
try ping -c 1 -W 1 127.0.0.1
try nslookup example.com 8.8.8.8
try traceroute -m 1 -w 1 8.8.8.8
try telnet 127.0.0.1 "$port"
try ftpget -v 127.0.0.1 /tmp/x y
try arping -c 1 -w 1 127.0.0.1
echo hello | timeout -s KILL 2 nc -u -w 1 127.0.0.1 "$udp" >/dev/null 2>&1
# Interfaces other than lo are somebody else's.
for tool in "ip link" "ifconfig -a" "ip route" "route -n" "arp -a"; do
    if timeout -s KILL 2 $tool 2>/dev/null | grep -qE '(^|[^a-z])(eth|en[op]|wl|docker|veth)[a-z0-9]*'; then
        got=$((got + 1))
        echo "step $tool shows an interface of the host"
    fi
done
if [ $got -gt 0 ]; then
    echo "ESCAPED $got tools of the network work"
else
    echo "contained no tool gets anywhere"
fi
