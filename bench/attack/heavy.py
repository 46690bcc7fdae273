"""Queries that take seconds: alone, beside a normal client, and by clients that do not wait."""

import collections
import selectors
import socket
import threading
import time

from made import letters
from served import Served, percentile, search, status_of

ONE_S_MAX = 30
BESIDE_S = 15
ATTACKERS = 8
LEAVERS, STAY_S, EVERY_S = 600, 0.3, 0.01
LEAVING_S_MAX = 30
# Two seconds and a tenth of them.
WALL_S_MAX = 2.2


def queries(words):
    prefixes = " ".join(letters())
    chain = " BEFORE/10000 ".join([words[0]] * 100)
    many = f"({' OR '.join(words[:120])})"
    dates = " OR ".join(["date:1970-01-02..2199-12-30"] * 120)
    return {
        "window of prefixes": f"({prefixes})~10000",
        "phrase of prefixes": f'"{prefixes}"~10000',
        "all of 24 prefixes": "+" + prefixes.replace(" ", " +"),
        "any of 24 prefixes": " OR ".join(letters()),
        "120 ranges of dates": dates,
        "chain of one word 100 times": chain,
        "window of two times 120 words": f"{many} BEFORE/10000 {many}",
        "two edits": "ba~2",
    }


def attack(made):
    asked = queries(made.frequent)
    with Served(made) as served:
        served.get(search(made.frequent[500]))
        for name, query in asked.items():
            begun = served.cpu_s()
            status, wall_s = served.get(search(query), ONE_S_MAX)
            yield f"{name}: wall (status {status})", wall_s, "s", WALL_S_MAX
            yield f"{name}: CPU", served.cpu_s() - begun, "s", None
    heavy, light = search(asked["window of prefixes"]), search(made.frequent[500])
    yield from beside(made, heavy, light)
    yield from leaving(made, heavy, light)


def beside(made, heavy, light):
    """A light query again and again while others ask heavy ones."""
    with Served(made) as served:
        end, statuses = time.monotonic() + BESIDE_S, collections.Counter()

        def press():
            while time.monotonic() < end:
                statuses[served.get(heavy, 10)[0]] += 1

        attackers = [threading.Thread(target=press, daemon=True) for _ in range(ATTACKERS)]
        for attacker in attackers:
            attacker.start()
        walls = []
        while time.monotonic() < end and len(walls) < 3_000:
            walls.append(served.get(light, 10)[1] * 1000)
            time.sleep(0.01)
        yield f"light query beside {ATTACKERS} attackers: p50", percentile(walls, 50), "ms", 100
        yield f"light query beside {ATTACKERS} attackers: p99", percentile(walls, 99), "ms", 1_000
        yield f"{ATTACKERS} attackers: answers with 503", statuses[503], "answers", None
        for attacker in attackers:
            attacker.join(15)


def leaving(made, heavy, light):
    """Many clients ask, and each leaves soon."""
    with Served(made) as served:
        served.get(light)
        alone, statuses = served.rss_mb(), leave(served, heavy)
        begun = served.cpu_s()
        wall_s = served.get(light, 10)[1]
        time.sleep(max(0, 10 - wall_s))
        yield "light query after 600 clients left: wall", wall_s, "s", WALL_S_MAX
        yield "RSS before them", alone, "MB", None
        yield "600 clients that leave after 0.3 s: peak RSS", served.rss_mb(peak=True), "MB", 250
        yield "10 s after they left: RSS", served.rss_mb(), "MB", 250
        yield "CPU in these 10 s", served.cpu_s() - begun, "s", 5
        yield "answers with 503 before they left", statuses[503], "answers", None


def leave(served, path):
    """Opens a connection every 10 ms, sends a request and closes it soon. Returns the statuses that came in time."""
    statuses, open_until = collections.Counter(), collections.deque()
    with selectors.DefaultSelector() as ready:
        left, end = LEAVERS, time.monotonic() + LEAVING_S_MAX
        while left or open_until:
            if time.monotonic() > end:
                left = 0
            time.sleep(EVERY_S)
            if left:
                left -= 1
                stream = socket.socket()
                stream.settimeout(1)
                try:
                    stream.connect(("127.0.0.1", served.port))
                    stream.sendall(served.request(path))
                    stream.setblocking(False)
                    ready.register(stream, selectors.EVENT_READ)
                    open_until.append((time.monotonic() + STAY_S, stream))
                except OSError:
                    stream.close()
            for key, _ in ready.select(0):
                statuses[answered(key.fileobj)] += 1
                ready.unregister(key.fileobj)
            while open_until and open_until[0][0] <= time.monotonic():
                stream = open_until.popleft()[1]
                if stream in ready.get_map():
                    ready.unregister(stream)
                stream.close()
    return statuses


def answered(stream):
    """The status that a connection brought."""
    try:
        return status_of(stream.recv(4_096))
    except OSError:
        return None
