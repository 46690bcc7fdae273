"""Queries of words that no document has, for which the server looks for suggestions."""

import random
import time

from made import misspelt
from served import Served, percentile, search

REQUESTS_MAX = 40
CLASS_S_MAX = 30


def attack(made):
    chance = random.Random(3)
    wrong, rare = misspelt(made.frequent), made.rare()
    forms = {f"{count} unknown word{'s' * (count > 1)}": lambda count=count: chance.sample(wrong, count) for count in (1, 4, 10)}
    forms["3 rare words that no document has together"] = lambda: chance.sample(rare, 3)
    with Served(made) as served:
        served.get(search(made.frequent[100]))
        for name, draw in forms.items():
            spent, end = [], time.monotonic() + CLASS_S_MAX
            while len(spent) < REQUESTS_MAX and time.monotonic() < end:
                begun = served.cpu_s()
                served.get(search(" ".join(draw())), CLASS_S_MAX)
                spent.append((served.cpu_s() - begun) * 1000)
            # Rare words have results, whose snippets take most of the time.
            yield f"{name}: CPU of a request, median", percentile(spent, 50), "ms", 1 if "unknown" in name else None
            yield f"{name}: p99", percentile(spent, 99), "ms", 5
