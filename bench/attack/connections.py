"""Many hostile connections, from one address and from many: how long a normal client waits, and memory."""

import asyncio
import multiprocessing
import time

from served import Served, search

CLIENTS, ADDRESSES = 1_100, 200
HELD_S = 20
PROBE_S_MAX, PROBE_EVERY_S = 10, 1
KINDS = ["idle", "keep-alive", "never reading", "slow head"]
PIPELINED = 400


def attack(made):
    path = search(made.frequent[500])
    for kind in KINDS:
        for addresses in (1, ADDRESSES):
            with Served(made) as served:
                served.get(path)
                end = time.monotonic() + HELD_S
                fork = multiprocessing.get_context("fork")
                hostile = fork.Process(target=hold, args=(served, kind, addresses, path, end), daemon=True)
                hostile.start()
                time.sleep(2)
                walls = []
                while time.monotonic() < end:
                    walls.append(served.get(path, PROBE_S_MAX)[1])
                    time.sleep(PROBE_EVERY_S)
                hostile.join(5)
                if hostile.is_alive():
                    hostile.kill()
                name = f"{CLIENTS} {kind}, {addresses} address{'es' * (addresses > 1)}"
                yield f"{name}: a normal query, slowest", max(walls), "s", 1
                yield f"{name}: peak RSS", served.rss_mb(peak=True), "MB", 300


def hold(served, kind, addresses, path, end):
    """Runs the clients in a process of their own. A client whose connection is closed comes again."""

    async def client(number):
        # The normal client is at 127.0.0.1.
        source = f"127.0.2.{1 + number % addresses}"
        while time.monotonic() < end:
            try:
                await asyncio.wait_for(held(served, kind, source, path), end - time.monotonic())
            except (OSError, asyncio.TimeoutError, asyncio.IncompleteReadError):
                pass
            await asyncio.sleep(0.5)

    async def clients():
        await asyncio.gather(*(client(number) for number in range(CLIENTS)))

    asyncio.run(clients())


async def held(served, kind, source, path):
    """One hostile connection, until the server closes it."""
    opening = asyncio.open_connection("127.0.0.1", served.port, local_addr=(source, 0), limit=1_024)
    reader, writer = await opening
    try:
        if kind == "keep-alive":
            while True:
                writer.write(served.request("/style.css"))
                try:
                    while await asyncio.wait_for(reader.read(65_536), 10):
                        pass
                    return
                except asyncio.TimeoutError:
                    continue
        if kind == "never reading":
            writer.write(served.request(path) * PIPELINED)
            await asyncio.sleep(HELD_S)
        elif kind == "slow head":
            for byte in served.request(path, more="X-Slow: " + "x" * 1_000 + "\r\n"):
                writer.write(bytes([byte]))
                await asyncio.sleep(1)
        else:
            await reader.read(1)
    finally:
        writer.transport.abort()
