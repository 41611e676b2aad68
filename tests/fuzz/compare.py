"""One network after another through the server, compared with ONNX Runtime."""

import collections
import json

import numpy as np
import onnx
from draw import Network, draw
from graph import session
from judge import ALWAYS, IN_TURN, INTERPRETED, describe, judge
from server import Server, write
from shrink import Shrinker

# Multiply-adds, or elements, that the interpreter is given.
INTERPRETABLE = 3e6


class Comparison:
    def __init__(self, binary, scratch, keep, command):
        self.server, self.scratch, self.keep, self.command = Server(binary), scratch, keep, command
        self.reduced = collections.Counter()

    def seed(self, seed, small):
        """What is reported of the network of a seed."""
        network = draw(seed, small)
        if network is None:
            return {}
        configs = ([INTERPRETED] if network.work <= INTERPRETABLE else []) + ALWAYS + [IN_TURN[seed % len(IN_TURN)]]
        report = {"counts": {"networks": 1, "nodes": len(network.model.graph.node), "runs": len(configs) * network.worlds}, "found": [], "refused": []}
        write(self.scratch, network.model, network.inputs)
        verdicts = []
        for config in configs:
            verdict = judge(self.server.run(config, network.model, network.inputs, self.scratch), network, config)
            if verdict is None:
                continue
            if verdict.kind == "refused":
                report["refused"].append(verdict.signature())
                # What is refused once is refused by all.
                if config["mode"] != "interpret":
                    break
                continue
            verdicts.append(verdict)
        report["found"] += [self.finding(seed, network, verdict) for verdict in verdicts[:1]]
        return report

    def finding(self, seed, network, verdict):
        """What it is called, and a report; the network is written down, made as small as it gets."""
        text = f"seed {seed}: {describe(verdict.config)}: {verdict.kind}: {verdict.text}"
        signature = verdict.signature()
        self.reduced[signature] += 1
        if self.reduced[signature] > (100 if verdict.kind == "wrong" else 1):
            return signature, text
        last = [verdict]

        def fails(model, inputs, expected, bounds):
            if verdict.kind == "wrong" and not all(np.isfinite(a).all() for world in expected for a in world if a.dtype.kind == "f"):
                return False
            write(self.scratch, model, inputs)
            now = judge(self.server.run(verdict.config, model, inputs, self.scratch), Network(model, inputs, expected, bounds), verdict.config)
            same = now is not None and now.kind == verdict.kind and (now.kind == "wrong" or now.signature() == signature)
            if same:
                last[0] = now
            return same

        small = Shrinker(network, fails).run() or network
        folder = self.keep / f"networks-{seed}"
        write(folder, small.model, small.inputs)
        (folder / "bounds.json").write_text(json.dumps(small.bounds))
        graph = onnx.printer.to_text(small.model.graph)
        text = f"{text}\n  smallest: {last[0].text}\n  {self.command} {folder}\n    " + graph[:1500].replace("\n", "\n    ")
        (folder / "report.txt").write_text(text + "\n")
        ops = sorted({node.op_type for node in small.model.graph.node})
        return f"{verdict.kind}: {', '.join(ops)}" if verdict.kind == "wrong" else signature, text

    def replay(self, folder):
        """Runs a finding by everything; whether it still fails."""
        model = onnx.load(folder / "model.onnx")
        inputs = [{value.name: np.load(place / f"{i}.npy") for i, value in enumerate(model.graph.input)} for place in sorted(folder.glob("[0-9]"))]
        expected = [session(model).run(None, world) for world in inputs]
        network = Network(model, inputs, expected, json.loads((folder / "bounds.json").read_text()))
        write(self.scratch, model, inputs)
        failed = False
        for config in [INTERPRETED, *ALWAYS, *IN_TURN]:
            verdict = judge(self.server.run(config, model, inputs, self.scratch), network, config)
            print(f"{describe(config)}: {verdict.kind + ': ' + verdict.text if verdict else 'agrees'}")
            failed = failed or verdict is not None
        return failed
