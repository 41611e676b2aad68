"""`deuteron explain`, `profile` and `bisect` as a user runs them: the forms of a report agree with each other and with the ONNX
file, an artefact explains itself as its model does, the page works in a browser without a network, errors have their exit status.

    python tests/explain_test.py BINARY [--keep FOLDER]

The part in a browser is left out, and says so, where there is no Chromium.
"""

import html
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import numpy as np
import onnx
from onnx import TensorProto, helper

ROOT = pathlib.Path(__file__).resolve().parent.parent
MAKE = ROOT / "tests" / "networks" / "make.py"
BINARY = None
FOLDER = None


def deuteron(*arguments, status=0):
    result = subprocess.run([BINARY, *map(str, arguments)], capture_output=True, text=True, timeout=600)
    assert result.returncode == status, f"exit status {result.returncode}, not {status}: {result.stderr}"
    return result


def network(name):
    path = FOLDER / f"{name}.onnx"
    if not path.exists():
        subprocess.run([sys.executable, MAKE, name, path, "--size", "small"], check=True, stdout=subprocess.DEVNULL)
    return path


def explain(path, *flags):
    return json.loads(deuteron("explain", path, "--json", *flags).stdout)


def artefact(name):
    path = FOLDER / f"{name}.so"
    if not path.exists():
        deuteron("compile", network(name), "-o", path)
    return path


def long_graph(path, layers):
    """Blocks of convolution-free work with skips: about four operators a layer."""
    nodes = []
    last = "x"
    for i in range(layers):
        nodes += [helper.make_node("MatMul", [last, "w"], [f"m{i}"], f"/layer{i}/MatMul"),
                  helper.make_node("Relu", [f"m{i}"], [f"r{i}"], f"/layer{i}/Relu"),
                  helper.make_node("Add", [f"r{i}", last], [f"a{i}"], f"/layer{i}/Add"),
                  helper.make_node("Softmax", [f"a{i}"], [f"s{i}"], f"/layer{i}/Softmax")]
        last = f"s{i}"
    weight = helper.make_tensor("w", TensorProto.FLOAT, [16, 16], np.full(256, 0.1, np.float32))
    graph = helper.make_graph(nodes, "long", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [4, 16])],
                              [helper.make_tensor_value_info(last, TensorProto.FLOAT, [4, 16])], [weight])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), path)


WIDTHS = {"float32": 4, "float16": 2, "int64": 8, "int32": 4, "int8": 1, "bool": 1}


def bytes_of_calls(path, *flags):
    """What the kernels of a model read and write, each tensor once a call, from the text of the module alone."""
    text = deuteron("opt", path, "--pipeline", "graph", "--passes", "", "--no-spans", "--elide-constants", 0, *flags).stdout
    sizes = {}
    for name, parameters in re.findall(r"def (\w+)\((.*)\):\n", text):
        buffers = re.findall(r'T\.Buffer\(\(((?:T\.int64\(\d+\)|, |,)*)\)(?:, "(\w+)")?\)', parameters)
        sizes[name] = [int(np.prod([int(n) for n in re.findall(r"\((\d+)\)", shape)])) * WIDTHS[dtype or "float32"]
                       for shape, dtype in buffers]
    total = 0
    for name, arguments in re.findall(r"R\.call_tir\(cls\.(\w+), \((.*?)\), out_ty=", text[text.index("def main"):]):
        names = [argument for argument in re.split(r",\s*(?![^\[]*\])", arguments) if argument]
        repeated = [i for i, argument in enumerate(names) if argument in names[:i]]
        total += sum(size for i, size in enumerate(sizes[name]) if i not in repeated)
    return total


class Explain(unittest.TestCase):
    def test_bytes_are_those_of_the_calls(self):
        for name in ("resnet50", "bert", "decoder"):
            with self.subTest(name):
                report = explain(network(name))
                self.assertEqual(report["bytes_after"], bytes_of_calls(network(name)))
                self.assertEqual(report["bytes_before"], bytes_of_calls(network(name), "--no-fuse"))

    def test_json_is_consistent(self):
        for name in ("resnet50", "bert"):
            with self.subTest(name):
                report = explain(network(name))
                nodes, edges, kernels = report["nodes"], report["edges"], report["kernels"]
                self.assertEqual(report["kernels_launched"], len(kernels))
                self.assertEqual(report["edges_fused"], sum(edge["fused"] for edge in edges))
                for edge in edges:
                    together = set(nodes[edge["from"]]["kernels"]) & set(nodes[edge["to"]]["kernels"])
                    self.assertEqual(edge["fused"], bool(together), edge)
                    if not edge["fused"]:
                        self.assertTrue(edge["reason"] and edge["sentence"] and edge["change"], edge)
                        self.assertNotIn("{", edge["change"])
                for kernel in kernels:
                    self.assertLessEqual(0, kernel["bytes_saved"], kernel["name"])
                    self.assertEqual(kernel["bytes_saved"], kernel["bytes_read_before"] + kernel["bytes_written_before"]
                                     - kernel["bytes_read"] - kernel["bytes_written"])
                    self.assertTrue(kernel["schedule"], kernel["name"])
                self.assertEqual(report["bytes_before"] - report["bytes_after"], sum(k["bytes_saved"] for k in kernels))
                computed = {node["id"] for node in nodes if "bytes_read" in node}
                self.assertEqual(computed, computed & {m for k in kernels for m in k["members"]})

    def test_places_are_those_of_the_model(self):
        names = {node.name for node in onnx.load(network("resnet50")).graph.node}
        places = {node["place"] for node in explain(network("resnet50"))["nodes"] if "bytes_read" in node}
        self.assertGreater(len(places & names), 0.9 * len(places), places - names)

    def test_convolution_blocks_are_kernels(self):
        report = explain(network("resnet50"))
        convolutions = [k for k in report["kernels"] if "conv2d" in k["name"]]
        self.assertTrue(convolutions)
        for kernel in convolutions:
            self.assertGreater(len(kernel["members"]), 1, kernel["name"])

    def test_without_fusion_nothing_is_fused(self):
        report = explain(network("resnet50"), "--no-fuse")
        self.assertEqual(report["edges_fused"], 0)
        self.assertEqual({edge["reason"] for edge in report["edges"]}, {"fusion-disabled"})
        self.assertEqual(report["bytes_before"], report["bytes_after"])

    def test_limits_are_named(self):
        text = deuteron("explain", network("bert"), "--config", "relax.FuseOps.max_depth=2").stdout
        self.assertRegex(text, r"Raise --config relax\.FuseOps\.max_depth from 2 to \d+ or more\.")
        report = explain(network("bert"), "--config", "relax.FuseOps.max_depth=3")
        computes = [sum("bytes_read" in report["nodes"][m] for m in kernel["members"]) for kernel in report["kernels"]]
        self.assertEqual(max(computes), 3)
        deuteron("explain", network("bert"), "--config", "relax.FuseOps.max_depth=-1", status=2)

    def test_last_batch_norm(self):
        """Its first result leaves the model: the tuple of all three is seen through."""
        path = FOLDER / "batch_norm_last.onnx"
        tensor = lambda name: helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 3, 8, 8])  # noqa: E731
        nodes = [helper.make_node("Tanh", ["x"], ["t"], "tanh"),
                 helper.make_node("BatchNormalization", ["t", "p", "p", "p", "p"], ["y"], "norm")]
        weight = helper.make_tensor("p", TensorProto.FLOAT, [3], [1.0, 2.0, 3.0])
        graph = helper.make_graph(nodes, "norm", [tensor("x")], [tensor("y")], [weight])
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), path)
        report = explain(path)
        self.assertTrue(all(edge["fused"] for edge in report["edges"]), report["edges"])
        self.assertEqual([kernel["places"] for kernel in report["kernels"]], [["tanh", "norm"]])

    def test_nothing_to_compute(self):
        path = FOLDER / "nothing.onnx"
        tensor = lambda name: helper.make_tensor_value_info(name, TensorProto.FLOAT, [3])  # noqa: E731
        graph = helper.make_graph([helper.make_node("Identity", ["x"], ["y"])], "nothing", [tensor("x")], [tensor("y")])
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), path)
        deuteron("compile", path, "-o", FOLDER / "nothing.so")
        for model in (path, FOLDER / "nothing.so"):
            self.assertEqual(explain(model)["kernels"], [])

    def test_artefact_explains_itself(self):
        for name in ("resnet50", "bert"):
            of_model, of_artefact = explain(network(name)), explain(artefact(name))
            for report in (of_model, of_artefact):
                del report["model"]
            self.assertEqual(of_model, of_artefact)

    def test_text(self):
        text = deuteron("explain", network("resnet50")).stdout
        self.assertRegex(text.splitlines()[0], r"resnet50\.onnx: \d+ operators in \d+ kernels; \d+ of \d+ edges fused")
        self.assertIn("Not fused", text)
        self.assertIn("To fuse:", text)
        rows = [line for line in text.splitlines() if "fused_conv2d" in line]
        self.assertTrue(rows)

    @unittest.skipUnless(shutil.which("dot"), "graphviz is not installed")
    def test_dot(self):
        text = deuteron("explain", network("squeezenet"), "--dot").stdout
        svg = subprocess.run(["dot", "-Tsvg"], input=text, capture_output=True, text=True, check=True).stdout
        report = explain(network("squeezenet"))
        self.assertEqual(svg.count('class="node"'), len(report["nodes"]))
        self.assertEqual(svg.count('class="edge"'), len(report["edges"]))

    def test_symbolic_sizes(self):
        path = FOLDER / "symbolic.onnx"
        subprocess.run([sys.executable, MAKE, "bert", path, "--size", "small", "--batch", "symbolic"], check=True, stdout=subprocess.DEVNULL)
        report = explain(path)
        self.assertIsInstance(report["bytes_before"], str)
        self.assertIn("batch", report["bytes_before"])
        model = onnx.load(path)
        flags = []
        for value in model.graph.input:
            dims = [str(d.dim_value) if d.HasField("dim_value") else "3" for d in value.type.tensor_type.shape.dim]
            flags += ["--shape", f"{value.name}={','.join(dims)}"]
        compiled = FOLDER / "symbolic.so"
        deuteron("compile", path, "-o", compiled)
        at_three = explain(compiled, *flags)
        self.assertIsInstance(at_three["bytes_before"], int)
        self.assertIsInstance(explain(compiled)["bytes_before"], str)

    def test_errors(self):
        deuteron("explain", FOLDER / "missing.onnx", status=3)
        deuteron("explain", FOLDER / "missing.so", status=3)
        deuteron("explain", network("resnet50"), "--json", "--dot", status=2)
        deuteron("explain", network("resnet50"), "--html", FOLDER / "no" / "such" / "folder.html", status=2)
        deuteron("explain", artefact("resnet50"), "--shape", "nobody=1", status=2)


class Page(unittest.TestCase):
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")

    def page(self, model, name):
        path = FOLDER / f"{name}.html"
        if not path.exists():
            deuteron("explain", model, "--html", path)
        return path

    def browse(self, path, link="", *flags):
        """The page after its scripts have run."""
        with tempfile.TemporaryDirectory() as profile:
            result = subprocess.run(
                [self.chromium, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", f"--user-data-dir={profile}",
                 "--window-size=1600,1000", "--virtual-time-budget=20000", "--host-resolver-rules=MAP * ~NOTFOUND", *flags,
                 f"file://{path}{link}"], capture_output=True, text=True, timeout=300)
        self.assertEqual(result.returncode, 0, result.stderr[-2000:])
        return result.stdout

    def ready(self, page):
        found = re.search(r'data-ready="([^"]*)"', page)
        self.assertTrue(found, "the page's script did not finish")
        return json.loads(html.unescape(found.group(1)))

    def test_needs_nothing_else(self):
        text = self.page(network("resnet50"), "resnet50").read_text()
        self.assertNotRegex(text, r"https?://|<link|<script[^>]*\bsrc=|@import|url\(")
        self.assertNotIn("/*DATA*/", text)

    @unittest.skipUnless(chromium, "Chromium is not installed: the page is not looked at")
    def test_shows_the_graph(self):
        report = explain(network("resnet50"))
        path = self.page(network("resnet50"), "resnet50")
        page = self.browse(path, "", "--dump-dom")
        ready = self.ready(page)
        self.assertEqual((ready["nodes"], ready["edges"], ready["kernels"]),
                         (len(report["nodes"]), len(report["edges"]), len(report["kernels"])))
        shown = html.unescape(page)
        self.assertTrue("Kernels by bytes saved" in shown, "the overview is missing")
        best = max(range(len(report["kernels"])), key=lambda k: report["kernels"][k]["bytes_saved"])
        kernel = html.unescape(self.browse(path, f"#kernel={best}", "--dump-dom"))
        self.assertTrue("TIR after fusion" in kernel and "TIR before fusion" in kernel, "the kernel's panel is missing")
        self.assertTrue("def " + report["kernels"][best]["name"] + "(" in kernel, "the kernel's text is missing")
        place = report["nodes"][report["kernels"][best]["members"][0]]["place"]
        self.assertIn("1 found" if sum(place in n["place"] for n in report["nodes"]) == 1 else "found",
                      self.browse(path, "#search=" + place, "--dump-dom"))
        reason = next(edge["reason"] for edge in report["edges"] if not edge["fused"])
        self.assertIn(reason, self.browse(path, "#reason=" + reason, "--dump-dom"))

    @unittest.skipUnless(chromium, "Chromium is not installed: no screenshot is made")
    def test_screenshot(self):
        for name in ("resnet50", "bert"):
            picture = FOLDER / f"{name}.png"
            self.browse(self.page(network(name), name), "", f"--screenshot={picture}")
            self.assertGreater(picture.stat().st_size, 20_000, "the picture is empty")

    @unittest.skipUnless(chromium, "Chromium is not installed: the layout is not timed")
    def test_two_thousand_nodes(self):
        model = FOLDER / "long.onnx"
        long_graph(model, 500)
        ready = self.ready(self.browse(self.page(model, "long"), "", "--dump-dom"))
        self.assertGreaterEqual(ready["nodes"], 2000)
        self.assertLess(ready["milliseconds"], 10_000)

    @unittest.skipUnless(chromium, "Chromium is not installed: names are not tried")
    def test_names_cannot_break_the_page(self):
        model = FOLDER / "names.onnx"
        evil = '</script><script>document.title="broken"</script><b>&"'
        graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"], evil), helper.make_node("Exp", ["y"], ["z"], "plain")], "names",
                                  [helper.make_tensor_value_info("x", TensorProto.FLOAT, [4])],
                                  [helper.make_tensor_value_info("z", TensorProto.FLOAT, [4])])
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), model)
        page = self.browse(self.page(model, "names"), "#node=0", "--dump-dom")
        self.ready(page)
        self.assertNotIn("<title>broken", page)
        self.assertNotIn("<b>&", page)


class Profile(unittest.TestCase):
    def check(self, model, *flags):
        profile = json.loads(deuteron("profile", model, "--json", "--seconds", "0.2", *flags).stdout)
        self.assertGreaterEqual(profile["runs"], 3)
        self.assertGreater(profile["peak_gflops"], 1)
        self.assertGreater(profile["peak_gbps"], 0.5)
        self.assertAlmostEqual(sum(row["share"] for row in profile["kernels"]), 1, places=3)
        self.assertLessEqual(profile["kernels_ms"], profile["run_ms"] * 1.5)
        times = [row["us"] for row in profile["kernels"]]
        self.assertEqual(times, sorted(times, reverse=True))
        for row in profile["kernels"]:
            self.assertAlmostEqual(row["gbps"], row["bytes"] * row["calls"] / row["us"] / 1e3, delta=1e-6 * (1 + row["gbps"]))
        return profile

    def test_model_and_artefact(self):
        report = explain(network("resnet50"))
        for model in (network("resnet50"), artefact("resnet50")):
            profile = self.check(model, "--threads", 1)
            self.assertEqual(sorted(row["kernel"] for row in profile["kernels"]), list(range(len(report["kernels"]))))
            for row in profile["kernels"]:
                kernel = report["kernels"][row["kernel"]]
                self.assertEqual((row["name"], row["places"]), (kernel["name"], kernel["places"]))
                self.assertEqual((row["bytes"], row["flops"]), (kernel["bytes_read"] + kernel["bytes_written"], kernel["flops"]))

    def test_text_module_with_symbolic_sizes(self):
        path = FOLDER / "module.py"
        path.write_text('@I.ir_module\nclass Module:\n    @R.function\n    def main(x: R.Tensor(("n", 64), "float32")):\n'
                        "        with R.dataflow():\n            a = R.exp(x)\n            gv = R.nn.softmax(a, axis=-1)\n"
                        "            R.output(gv)\n        return gv\n")
        profile = self.check(path)
        self.assertTrue(all(isinstance(row["bytes"], int) for row in profile["kernels"]))

    def test_text(self):
        text = deuteron("profile", network("squeezenet"), "--seconds", "0").stdout
        self.assertIn("of roofline", text)
        self.assertIn("µs", text)

    def test_errors(self):
        deuteron("profile", FOLDER / "missing.onnx", status=3)
        deuteron("profile", network("resnet50"), "--input", "nobody=/nowhere.npy", status=2)


class Bisect(unittest.TestCase):
    def test_finds_nothing_wrong(self):
        result = deuteron("bisect", network("squeezenet"), "--threads", 1)
        self.assertIn("no pass changes the result", result.stdout)

    def test_errors(self):
        deuteron("bisect", FOLDER / "missing.onnx", status=3)


def main():
    global BINARY, FOLDER
    BINARY = sys.argv.pop(1)
    keep = sys.argv.index("--keep") if "--keep" in sys.argv else None
    if keep is not None:
        FOLDER = pathlib.Path(sys.argv.pop(keep + 1)).resolve()
        sys.argv.pop(keep)
        FOLDER.mkdir(parents=True, exist_ok=True)
        unittest.main()
    with tempfile.TemporaryDirectory() as folder:
        FOLDER = pathlib.Path(folder)
        unittest.main(exit=True)


if __name__ == "__main__":
    main()
