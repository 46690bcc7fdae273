"""Pages of Markdown that are small on the wire and make a large tree: memory of the crawl and of the index."""

from made import COMMAND_S_MAX
from served import run

PAGES = {"links": "[a](<", "emphasis": "*a_ ", "tables": "|a|b|\n|-|-|\n|c|d|\n"}
BYTES = 32 << 20


def attack(made):
    for name, text in PAGES.items():
        place, _, (code, usage) = made.crawled(f"markdown-{name}", "text/markdown", text, BYTES)
        yield f"{name}: exit code of the crawl", code, "code", 0
        yield f"{name}: peak RSS of the crawl", usage.ru_maxrss / 1000, "MB", 250
        code, usage = run([made.binary, "index", "--quiet", "--dir", place], COMMAND_S_MAX)
        yield f"{name}: exit code of the index", code, "code", 0
        yield f"{name}: peak RSS of the index", usage.ru_maxrss / 1000, "MB", 250
