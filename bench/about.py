"""What a run was made with and on: versions, and the machine. What benchmarks tell about themselves, as rows of Markdown."""

import os
import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def versions(crivello, manifest=ROOT / "bench/index/index-peer/Cargo.toml"):
    """Those of the binary of Crivello, of the peers that a manifest pins, and of the compiler."""
    said = lambda *command: subprocess.run(command, cwd=ROOT, capture_output=True, text=True).stdout.strip()
    pinned = dict(re.findall(r'^(\w+) = \{ version = "=([^"]+)', manifest.read_text(), re.MULTILINE))
    return dict(
        crivello=f"{said(crivello, '--version').split()[-1]} ({said('git', 'rev-parse', '--short', 'HEAD')})",
        **pinned, rustc=said("rustc", "--version").split()[1],
    )


def machine():
    """The processor, what it has that Crivello looks for, and how busy it is."""
    about = Path("/proc/cpuinfo").read_text()
    model = re.search(r"model name\s*: (.*)", about)
    flags = set(re.findall(r"\b(?:avx2|avx512bw|avx512vl)\b", about))
    return dict(processor=model[1] if model else os.uname().machine, vectors=", ".join(sorted(flags)) or "–",
                cores=os.cpu_count(), load=round(os.getloadavg()[0], 1))


def table(rows):
    """Rows as a table of Markdown."""
    heads = list(rows[0])
    lines = ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)]
    return lines + ["| " + " | ".join(str(row[head]) for head in heads) + " |" for row in rows]
