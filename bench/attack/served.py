"""A server under attack, a normal client, and the figures that the kernel keeps of both."""

import json
import os
import select
import signal
import socket
import subprocess
import tempfile
import time
import urllib.parse
from pathlib import Path

START_S_MAX = 60


class Served:
    """`crivello serve` on a free port while the block lasts."""

    def __init__(self, made, dir=None):
        self.command = [made.binary, "serve", "--json", "--quiet", "--listen", "127.0.0.1:0"]
        self.command += ["--dir", dir or made.generated()]

    def __enter__(self):
        self.process = subprocess.Popen(self.command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        try:
            if not select.select([self.process.stdout], [], [], START_S_MAX)[0]:
                raise SystemExit("serve did not start")
            address = json.loads(self.process.stdout.readline())["listening"]
        except BaseException:
            self.__exit__()
            raise
        self.port = urllib.parse.urlsplit(address).port
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()

    def cpu_s(self):
        """The processor time of the server so far, from its own clock."""
        return time.clock_gettime((~self.process.pid << 3) | 2)

    def rss_mb(self, peak=False):
        """Resident memory: now, or the most so far."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        name = "VmHWM:" if peak else "VmRSS:"
        return int(next(line.split()[1] for line in status.splitlines() if line.startswith(name))) / 1000

    def request(self, path, host=None, more=""):
        """The bytes of a request."""
        return f"GET {path} HTTP/1.1\r\nHost: {host or f'127.0.0.1:{self.port}'}\r\n{more}\r\n".encode()

    def get(self, path, timeout_s=10, host=None):
        """A request on a connection of its own: status, or `None` if time is up, and seconds."""
        begun = time.monotonic()
        answer = b""
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=timeout_s) as stream:
                stream.sendall(self.request(path, host, "Connection: close\r\n"))
                while True:
                    left_s = timeout_s - (time.monotonic() - begun)
                    if left_s <= 0:
                        return None, time.monotonic() - begun
                    stream.settimeout(left_s)
                    piece = stream.recv(65_536)
                    if not piece:
                        break
                    answer += piece
        except OSError:
            return None, time.monotonic() - begun
        return status_of(answer), time.monotonic() - begun

    def stop(self, signals, gap_s, give_up_s):
        """Sends some signals and returns the seconds from the last one to the end, or `None` if it does not come."""
        for at in range(signals):
            if at:
                time.sleep(gap_s)
            if self.process.poll() is None:
                self.process.send_signal(signal.SIGTERM)
        begun = time.monotonic()
        try:
            self.process.wait(give_up_s)
        except subprocess.TimeoutExpired:
            return None
        return time.monotonic() - begun


def status_of(answer):
    """The status of an answer, or `None` where there is none."""
    fields = answer[:40].split(b" ")
    return int(fields[1]) if len(fields) > 1 and fields[1].isdigit() else None


def search(query):
    """The path of a search."""
    return "/api/search?" + urllib.parse.urlencode({"q": query})


def percentile(values, percent):
    values = sorted(values)
    return values[min(len(values) - 1, len(values) * percent // 100)]


def run(command, limit_s, must_succeed=False):
    """Runs a command and returns its exit code and its usage. It is ended when its time is up."""
    with tempfile.TemporaryFile("w+") as said:
        process = subprocess.Popen(list(map(str, command)), stdout=subprocess.DEVNULL, stderr=said)
        end, pid = time.monotonic() + limit_s, 0
        while not pid:
            pid, status, usage = os.wait4(process.pid, os.WNOHANG)
            if time.monotonic() > end:
                process.kill()
            time.sleep(0.02)
        process.returncode = os.waitstatus_to_exitcode(status)
        if must_succeed and process.returncode:
            said.seek(0)
            raise SystemExit(f"{command[1]} failed: {said.read()[-2_000:]}")
    return process.returncode, usage
