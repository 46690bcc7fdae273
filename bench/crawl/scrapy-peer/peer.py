"""Scrapy on the same tasks.

    peer.py links REQUESTS SEED       links, seen, robots.txt, queues; nothing stored
    peer.py full REQUESTS SEED FILE   the same, and a gzip WARC with SHA-1 digests, text, SimHash

The settings are those that Scrapy's documentation gives for broad crawls, with as many requests at
once as the other crawlers, no delay, and without what this web has no use for (cookies, retries).

The spider keeps a set of the URLs that it has seen: it makes a `Request` of each URL once, while Scrapy's own filter
would drop the same request again and again.
"""

import io
import re
import sys

import scrapy
from scrapy.crawler import CrawlerProcess

SETTINGS = {
    "ROBOTSTXT_OBEY": True,
    "USER_AGENT": "scrapy-peer/1.0",
    "DOWNLOAD_DELAY": 0,
    "AUTOTHROTTLE_ENABLED": False,
    "COOKIES_ENABLED": False,
    "RETRY_ENABLED": False,
    "TELNETCONSOLE_ENABLED": False,
    "LOG_LEVEL": "ERROR",
    "SCHEDULER_PRIORITY_QUEUE": "scrapy.pqueues.DownloaderAwarePriorityQueue",
    "REACTOR_THREADPOOL_MAXSIZE": 20,
}


class Links(scrapy.Spider):
    """Follows every link of every page."""

    name = "links"

    def __init__(self):
        super().__init__()
        self.seen = set(self.start_urls)

    def parse(self, response):
        if isinstance(response, scrapy.http.HtmlResponse):
            self.keep(response)
            for link in response.xpath("//a[not(contains(@rel, 'nofollow'))]/@href").getall():
                url = response.urljoin(link.strip())
                if url not in self.seen:
                    self.seen.add(url)
                    yield scrapy.Request(url)

    def keep(self, response):
        pass


class Full(Links):
    """Keeps the page as a WARC record, and makes its text and the text's SimHash."""

    name = "full"
    words = re.compile(r"\w+")

    def __init__(self, warc):
        super().__init__()
        from simhash import Simhash
        from warcio.statusandheaders import StatusAndHeaders
        from warcio.warcwriter import WARCWriter

        self.simhash, self.head = Simhash, StatusAndHeaders
        self.out = open(warc, "wb")
        self.writer = WARCWriter(self.out, gzip=True)
        self.fingerprints = []

    def keep(self, response):
        fields = [
            (name.decode("latin-1"), value.decode("latin-1"))
            for name, values in response.headers.items()
            for value in values
        ]
        head = self.head(f"{response.status} OK", fields, protocol="HTTP/1.1")
        record = self.writer.create_warc_record(
            response.url, "response", payload=io.BytesIO(response.body), http_headers=head
        )
        self.writer.write_record(record)
        pieces = response.xpath("//body//text()[not(parent::script or parent::style)]").getall()
        text = " ".join(" ".join(pieces).split())
        self.fingerprints.append(self.simhash(self.words.findall(text.lower())).value)

    def closed(self, reason):
        self.out.close()


def level_one():
    """warcio compresses with zlib's level 9; level 1 is what Crivello uses."""
    import zlib

    from warcio import warcwriter

    class Gzip(warcwriter.GzippingWrapper):
        def __init__(self, out):
            super().__init__(out)
            self.compressor = zlib.compressobj(1, zlib.DEFLATED, zlib.MAX_WBITS + 16)

    warcwriter.GzippingWrapper = Gzip


def main():
    task, requests, seed, *rest = sys.argv[1:]
    at_once = {"CONCURRENT_REQUESTS": int(requests), "CONCURRENT_REQUESTS_PER_DOMAIN": int(requests)}
    process = CrawlerProcess({**SETTINGS, **at_once})
    if task == "full":
        level_one()
        process.crawl(Full, warc=rest[0])
    else:
        process.crawl(Links)
    process.start()


if __name__ == "__main__":
    Links.start_urls = [sys.argv[3]]
    main()
