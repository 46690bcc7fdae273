"""The collections that are attacked, and the loopback server that hostile pages are crawled from."""

import http.server
import json
import multiprocessing
import random
import threading
import zlib
from contextlib import contextmanager

from served import run

WORDS_PER_DOCUMENT, RARE_WORDS = 200, 1_000
COMMAND_S_MAX = 300
PAGE_BYTES = 17 << 20


def vocabulary(count):
    """Words that can be spoken, no two alike, the most frequent first."""
    chance = random.Random(1)
    # There is no x: it makes a misspelt word that no document has.
    parts = [c + v for c in "bcdfghjklmnpqrstvwyz" for v in "aeiou"] + list("aeiou")
    seen = {}
    while len(seen) < count:
        word = "".join(chance.choices(parts, k=chance.randint(2, 5)))
        if len(word) > 2:
            seen.setdefault(word)
    return list(seen)


def write_documents(path, rare, words, count):
    """Documents of words drawn with Zipf's law, one JSON object a line; some rare words of theirs to another file."""
    terms, chance, drawn = vocabulary(words), random.Random(2), []

    def draw(length):
        places = [int(words ** chance.random()) - 1 for _ in range(length)]
        drawn.extend(terms[at] for at in places if at > words // 2 and len(drawn) < RARE_WORDS)
        return " ".join(terms[at] for at in places)

    with open(path, "w") as out:
        for at in range(count):
            page = dict(url=f"https://site{at % 97}.example/{at}", title=draw(6), text=draw(WORDS_PER_DOCUMENT))
            out.write(json.dumps(page) + "\n")
    rare.write_text("\n".join(drawn))


def apart(work, *arguments):
    """Does memory-hungry work in a process of its own: the driver's memory counts in the usage of its children."""
    process = multiprocessing.get_context("fork").Process(target=work, args=arguments)
    process.start()
    process.join(COMMAND_S_MAX)
    if process.exitcode != 0:
        process.kill()
        raise SystemExit(f"{work.__name__} failed")


class Collections:
    """Makes each collection when it is first needed."""

    def __init__(self, binary, dir, documents, words):
        self.binary, self.dir, self.documents, self.words = binary, dir, documents, words
        # The first words are the same in every vocabulary.
        self.frequent = vocabulary(1_000)

    def generated(self):
        """Many generated documents."""
        place = self.dir / "generated"
        if not place.exists():
            place.mkdir()
            (place / "crivello.toml").touch()
            apart(write_documents, self.dir / "documents.jsonl", self.dir / "rare", self.words, self.documents)
            run([self.binary, "import", "--quiet", self.dir / "documents.jsonl", "--dir", place], COMMAND_S_MAX, True)
            run([self.binary, "index", "--quiet", "--dir", place], COMMAND_S_MAX, True)
        return place

    def rare(self):
        """Words that few of the generated documents have."""
        self.generated()
        return (self.dir / "rare").read_text().split()

    def crawled(self, name, kind, text, bytes_min=PAGE_BYTES):
        """One page that is `text` over and over, crawled but not indexed. Returns folder, URL and usage of the crawl."""
        place = self.dir / name
        place.mkdir()
        keys = ["delay_ms = 0", "ip_delay_ms = 0", "sitemaps = false"]
        (place / "crivello.toml").write_text("\n".join(["[crawl]", *keys, ""]))
        with hostile_page(kind, text, bytes_min) as url:
            usage = run([self.binary, "crawl", "--quiet", "--dir", place, url], COMMAND_S_MAX)
        return place, url, usage


def packed(text, bytes_min):
    """`text` over and over, compressed piece by piece."""
    piece = (text * (65_536 // len(text) + 1)).encode()
    packer = zlib.compressobj(9, zlib.DEFLATED, zlib.MAX_WBITS + 16)
    pieces = [packer.compress(piece) for _ in range(bytes_min // len(piece))]
    return b"".join(pieces) + packer.flush()


@contextmanager
def hostile_page(kind, text, bytes_min):
    """Serves one page on a free port while the block lasts."""
    body = packed(text, bytes_min)

    class Page(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            is_page = self.path == "/page"
            self.send_response(200 if is_page else 404)
            self.send_header("Content-Type", kind)
            if is_page:
                self.send_header("Content-Encoding", "gzip")
            self.send_header("Content-Length", str(len(body) if is_page else 0))
            self.end_headers()
            if is_page:
                self.wfile.write(body)

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Page)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/page"
    finally:
        server.shutdown()
        server.server_close()


def letters():
    """The prefixes `b*` to `z*`, of which each has thousands of words."""
    return [f"{letter}*" for letter in "bcdefghijklmnopqrstuvwyz"]


def misspelt(words):
    """Words that no document has: each has one wrong letter."""
    return [word[:3] + "x" + word[4:] for word in words if len(word) > 5]
