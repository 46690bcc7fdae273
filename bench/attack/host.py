"""A page of another site asks by a name that was bound to the loopback address: DNS rebinding."""

from served import Served, search


def attack(made):
    with Served(made) as served:
        query = search(made.frequent[100])
        yield "search with a foreign Host header", served.get(query, host="attacker.example")[0], "status", "not 200"
        yield "search with Host localhost", served.get(query, host=f"localhost:{served.port}")[0], "status", 200
