"""Random ONNX networks: compiled against interpreted against ONNX Runtime.

    python tests/fuzz/networks.py [SECONDS] [--seed N] [--count N] [--small] [--jobs N] [--binary PATH] [--keep DIR] [--replay DIR...]

A network that is computed wrongly, or not at all, is made small and written into a folder of its own: model.onnx, its
inputs, and report.txt with the command that runs it again. The exit status is 5 where there is such a one; refusals are
counted and listed. Without --seed, seeds begin at 1: what a seed draws is the same everywhere.
"""

import argparse
import collections
import json
import pathlib
import select
import shlex
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
# Seconds for all that is done with a network, whatever ONNX Runtime does with it.
PATIENCE = 3600


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("seconds", nargs="?", type=float, default=600)
    parser.add_argument("--seed", type=int, default=1, help="the first one")
    parser.add_argument("--count", type=int, help="so many networks, however long it takes")
    parser.add_argument("--small", action="store_true", help="few nodes, small extents")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--binary", type=pathlib.Path, default=ROOT / "build" / "release" / "bin" / "serve_networks")
    parser.add_argument("--keep", type=pathlib.Path, default=ROOT / "build" / "fuzz" / "findings", help="folder for what is found")
    parser.add_argument("--replay", type=pathlib.Path, nargs="+", help="folders of findings: run these again")
    parser.add_argument("--worker", type=int, help=argparse.SUPPRESS)
    return parser.parse_args()


class Worker:
    """A process that draws every jobs-th network; ONNX Runtime runs in it, and may end it."""

    def __init__(self, arguments, index, first):
        self.arguments, self.index, self.seed = arguments, index, first
        self.start(first)

    def start(self, seed):
        command = [sys.executable, __file__, "--worker", str(self.arguments.jobs), "--seed", str(seed), "--binary", str(self.arguments.binary), "--keep",
                   str(self.arguments.keep), *(["--small"] if self.arguments.small else [])]
        last = self.arguments.seed + self.arguments.count if self.arguments.count else sys.maxsize
        self.process = subprocess.Popen([*command, "--count", str(max(0, last))], stdout=subprocess.PIPE, text=True, bufsize=1)
        self.heard = time.time()

    def restart(self):
        self.process.kill()
        self.process.wait()
        self.start(self.seed + self.arguments.jobs)


def supervise(arguments):
    end = time.time() + arguments.seconds
    workers = [Worker(arguments, i, arguments.seed + i) for i in range(arguments.jobs)]
    counts, refusals, findings, peer, first = collections.Counter(), collections.Counter(), collections.Counter(), [], {}
    while workers and (arguments.count or time.time() < end):
        ready, _, _ = select.select([w.process.stdout for w in workers], [], [], 5)
        for worker in list(workers):
            if worker.process.stdout not in ready:
                if time.time() - worker.heard > PATIENCE:
                    peer.append(worker.seed)
                    worker.restart()
                continue
            line = worker.process.stdout.readline()
            worker.heard = time.time()
            if not line:
                if worker.process.wait() == 0:
                    workers.remove(worker)
                else:
                    peer.append(worker.seed)
                    worker.restart()
                continue
            event = json.loads(line)
            worker.seed = event["seed"]
            for key in event.get("counts", {}):
                counts[key] += event["counts"][key]
            for signature in event.get("refused", []):
                refusals[signature] += 1
                first.setdefault(signature, worker.seed)
            for signature, text in event.get("found", []):
                if not findings[signature]:
                    print(text, flush=True)
                findings[signature] += 1
                first.setdefault(signature, worker.seed)
    for worker in workers:
        worker.process.terminate()
    report(counts, refusals, findings, peer, first)
    return 5 if findings else 0


def report(counts, refusals, findings, peer, first):
    for title, table in (("refused", refusals), ("found", findings)):
        for signature, count in table.most_common():
            print(f"{count:6} {title} (seed {first[signature]}): {signature.removeprefix('refused: ')}")
    if peer:
        print(f"ONNX Runtime did not live through {len(peer)}: seeds {', '.join(map(str, peer[:20]))}")
    print(f"{counts['networks']} networks of {counts['nodes']} nodes, run {counts['runs']} times: {sum(findings.values())} findings of {len(findings)} kinds, "
          f"{sum(refusals.values())} refused")


def main():
    arguments = parse()
    if arguments.worker is None and arguments.replay is None:
        sys.exit(supervise(arguments))
    import compare

    with tempfile.TemporaryDirectory(dir="/dev/shm" if pathlib.Path("/dev/shm").is_dir() else None) as scratch:
        comparison = compare.Comparison(arguments.binary, pathlib.Path(scratch), arguments.keep, shlex.join(["./dev", "fuzz", "networks", "--replay"]))
        if arguments.replay:
            sys.exit(5 if any([comparison.replay(folder) for folder in arguments.replay]) else 0)
        for seed in range(arguments.seed, arguments.count, arguments.worker):
            print(json.dumps({"seed": seed}), flush=True)
            print(json.dumps({"seed": seed, **comparison.seed(seed, arguments.small)}), flush=True)


if __name__ == "__main__":
    main()
