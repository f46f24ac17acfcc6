#!/usr/bin/python3
# tries: Python's ways out: urllib, http.client, getaddrinfo, asyncio, ssl, multicast, create_server on 0.0.0.0,
#   multiprocessing managers on a port
# must fail because: they all end at socket(), which knows AF_UNIX only
# an escape would: send what an agent's code found to anybody
# source: ATTACKS.md N6
import asyncio
import os
import socket
import sys

facts = dict(f.split("=", 1) for f in sys.argv[2:] if "=" in f)


def twin():
    a, b = socket.socketpair()
    a.sendall(b"abc")
    if b.recv(3) != b"abc":
        return "broken a socket pair"

    async def talk():
        async def serve(reader, writer):
            writer.write(await reader.readline())
            writer.close()
        server = await asyncio.start_unix_server(serve, "/tmp/py.sock")
        reader, writer = await asyncio.open_unix_connection("/tmp/py.sock")
        writer.write(b"hello\n")
        line = await reader.readline()
        server.close()
        return line
    return "works a server and a client of asyncio" if asyncio.run(talk()) == b"hello\n" else "broken asyncio"


def attack():
    import http.client
    import urllib.request
    port = int(facts.get("tcp_port", "80"))

    def server():
        s = socket.create_server(("0.0.0.0", 0))
        c = socket.create_connection(("169.254.169.254", 80), timeout=1)
        return s, c

    def multicast():
        s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        s.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP,
                     socket.inet_aton("224.0.0.251") + socket.inet_aton("0.0.0.0"))
        s.sendto(b"x", ("224.0.0.251", 5353))
    ways = {
        "urllib": lambda: urllib.request.urlopen("http://169.254.169.254/", timeout=1).read(10),
        "urllib loopback": lambda: urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=1).read(10),
        "http.client": lambda: http.client.HTTPConnection("8.8.8.8", timeout=1).request("GET", "/"),
        "getaddrinfo": lambda: socket.getaddrinfo("example.com", 80),
        "asyncio": lambda: asyncio.run(asyncio.wait_for(asyncio.open_connection("127.0.0.1", port), 1)),
        "server and client": server,
        "multicast": multicast,
    }
    got = 0
    for name, way in ways.items():
        try:
            print("step worked:", name, repr(way())[:100])
            got += 1
        except Exception as e:  # every refusal is an answer
            print("step", name, type(e).__name__, str(e).replace("\n", " ")[:100])
    return f"ESCAPED {got} ways out" if got else f"contained none of {len(ways)} ways out"


if sys.argv[1:2] == ["twin"]:
    print(twin())
elif os.environ.get("SENTRY_SUITE") != "1":
    print("cannot not run by escape-suite")
else:
    print(attack())
