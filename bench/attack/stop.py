"""The server is asked to stop while two heavy queries run."""

import threading
import time

from made import letters
from served import Served, search

GIVE_UP_S = 20


def attack(made):
    for clients, wait_s in [("that wait", GIVE_UP_S), ("that left", 0.3)]:
        name = f"two heavy queries of clients {clients}"
        yield f"{name}, SIGTERM: to the exit", stopped(made, wait_s, 1), "s", 5
        yield f"{name}, SIGTERM again 0.5 s later: to the exit", stopped(made, wait_s, 2), "s", 0.5


def stopped(made, wait_s, signals):
    """Seconds, or the time after which the script gave up."""
    query = search(f"({' '.join(letters())})~10000")
    with Served(made) as served:
        clients = [threading.Thread(target=served.get, args=(query, wait_s), daemon=True) for _ in range(2)]
        for client in clients:
            client.start()
        time.sleep(0.5)
        took_s = served.stop(signals, 0.5, GIVE_UP_S)
        return GIVE_UP_S if took_s is None else took_s
