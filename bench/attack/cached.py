"""Clients ask for the copy of a large page and do not read it."""

import socket
import time
import urllib.parse

from made import COMMAND_S_MAX
from served import Served, run

CLIENTS = 120
HELD_S = 10


def attack(made):
    place, url, _ = made.crawled("cached", "text/html", "<p>a large page of many words</p>\n")
    run([made.binary, "index", "--quiet", "--dir", place], COMMAND_S_MAX, True)
    path = "/cached/raw?" + urllib.parse.urlencode({"url": url})
    with Served(made, place) as served:
        yield "one copy: status", served.get(path, 60)[0], "status", 200
        alone = served.rss_mb(peak=True)
        clients = []
        try:
            for _ in range(CLIENTS):
                stream = socket.socket()
                clients.append(stream)
                stream.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
                stream.settimeout(2)
                try:
                    stream.connect(("127.0.0.1", served.port))
                    stream.sendall(served.request(path))
                except OSError:
                    pass
            time.sleep(HELD_S)
            yield "one copy: peak RSS", alone, "MB", None
            yield f"{CLIENTS} copies that nobody reads: peak RSS", served.rss_mb(peak=True), "MB", 300
        finally:
            for stream in clients:
                stream.close()
        time.sleep(HELD_S)
        yield "10 s after they left: RSS", served.rss_mb(), "MB", 300
