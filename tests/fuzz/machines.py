"""Random networks compiled for simulated machines: each one's results are right, and those of any two as near as the tolerance says.

    python tests/fuzz/machines.py [SECONDS] [--seed N] [--count N] [--small] [--binary PATH]

Caches, cores and vectors decide how kernels are fused, tiled and cut into parallel pieces, and so in which order sums are made. The tolerance is that
of networks.py: the bound that each value carries (graph.py).
"""

import argparse
import itertools
import pathlib
import sys
import tempfile
import time

from draw import draw
from judge import disagreement, judge
from server import Server, write

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
# AVX2 and no more everywhere; second cache, third cache, threads (as many cores).
MACHINES = [("256K", "4M", 1), ("2M", "4M", 1), ("256K", "480M", 64), ("2M", "480M", 64)]


def config(l2, l3, threads):
    target = f"llvm -mcpu=x86-64-v3 -l2-bytes={l2} -l3-bytes={l3} -threads={threads} -cores={threads}"
    return {"mode": "fused", "backend": "none", "threads": threads, "target": target}


def problems(server, scratch, network):
    """What is wrong with a network's results, and how many of its outputs were compared."""
    write(scratch, network.model, network.inputs)
    answers = []
    for machine in MACHINES:
        answer = server.run(config(*machine), network.model, network.inputs, scratch)
        verdict = judge(answer, network, config(*machine))
        if verdict is not None and verdict.kind == "refused":
            return [], 0
        if verdict is not None:
            return [f"{verdict.config['target']}: {verdict.kind}: {verdict.text}"], 0
        answers.append(answer)
    found, compared = [], 0
    for (one, a), (other, b) in itertools.combinations(zip(MACHINES, answers), 2):
        for world, index in itertools.product(range(network.worlds), range(len(network.model.graph.output))):
            compared += 1
            problem = disagreement(a[world][index], b[world][index], network.bounds[world][index])
            if problem:
                found.append(f"{one} against {other}: output {network.model.graph.output[index].name} {problem}")
    return found, compared


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("seconds", nargs="?", type=float, default=600)
    parser.add_argument("--seed", type=int, default=1, help="the first one")
    parser.add_argument("--count", type=int, help="so many networks, however long it takes")
    parser.add_argument("--small", action="store_true", help="few nodes, small extents")
    parser.add_argument("--binary", type=pathlib.Path, default=ROOT / "build" / "release" / "bin" / "serve_networks")
    arguments = parser.parse_args()
    server = Server(arguments.binary)
    end = time.time() + arguments.seconds
    networks = failures = outputs = 0
    with tempfile.TemporaryDirectory() as scratch:
        for seed in itertools.count(arguments.seed):
            if networks == arguments.count or (arguments.count is None and time.time() > end):
                break
            network = draw(seed, arguments.small)
            if network is None:
                continue
            networks += 1
            found, compared = problems(server, pathlib.Path(scratch), network)
            outputs += compared
            failures += bool(found)
            for problem in found:
                print(f"FAILED seed {seed}: {problem}", flush=True)
    server.stop()
    print(f"{networks} networks for {len(MACHINES)} machines, {outputs} pairs of outputs, {failures} failures")
    sys.exit(5 if failures or not outputs else 0)


if __name__ == "__main__":
    main()
