"""The example of docs/custom-operators.md, as it stands there, and what goes wrong with custom operators.

    python tests/onnx/custom_cases.py [--binary PATH]
"""

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnx.parser
import tvm_ffi.libinfo

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "docs"))
import snippets  # noqa: E402

MODEL = """<ir_version: 8, opset_import: ["" : 17, "com.acme" : 1]> g (float[N, 4] x) => (float[N, 4] y, float[4] w, float[N, 4] v)
    { a = Exp(x)
      [lift] b = com.acme.Lift<by: float = -1.5>(a)
      [halve] c = com.acme.Halve(b)
      y = Neg(c)
      m = ReduceSum<keepdims: int = 0>(x, zero)
      [row] w = com.acme.Lift(m)
      zero = Constant<value_ints: ints = [0]>()
      v = Softsign(x) }"""

# A known operator, an attribute that is a shape, a kernel, two results.
OTHERS = '''
@I.ir_module
class Others:
    @T.prim_func(private=True)
    def twice(x: T.Buffer((T.int64(6),), "float32"), y: T.Buffer((T.int64(6),), "float32")):
        for i in range(T.int64(6)):
            with T.sblock("y"):
                vi = T.axis.spatial(T.int64(6), i)
                y[vi] = x[vi] * T.float32(2)

    @R.function
    def relu(x: R.Tensor((6,), dtype="float32")) -> R.Tensor((6,), dtype="float32"):
        R.func_attr({"onnx_operator": "Relu"})
        cls = Others
        with R.dataflow():
            y = R.call_tir(cls.twice, (x,), out_ty=R.Tensor((6,), dtype="float32"))
            R.output(y)
        return y

    @R.function
    def fold(x: R.Tensor(("n",), dtype="float32"), to: R.Shape(["a", "b"])) -> R.Tuple(R.Tensor(("a", "b"), dtype="float32"), R.Tensor(("n",), dtype="float32")):
        R.func_attr({"onnx_operator": "com.acme::Fold", "onnx_attributes": {"to": [1, 1]}})
        a = T.int64()
        b = T.int64()
        with R.dataflow():
            y = R.reshape(x, R.shape([a, b]))
            z = R.negative(x)
            R.output(y, z)
        return (y, z)
'''
OTHER_MODEL = """<ir_version: 8, opset_import: ["" : 17, "com.acme" : 1]> g (float[6] x) => (float[2, 3] y, float[6] z)
    { a = Relu(x) y, z = com.acme.Fold<to: ints = [2, 3]>(a) }"""


class Runner:
    def __init__(self, binary, folder):
        self.binary, self.folder, self.failures = binary, folder, 0

    def __call__(self, *arguments):
        result = subprocess.run([str(self.binary), *map(str, arguments)], capture_output=True, text=True, timeout=120, cwd=self.folder)
        return result.returncode, result.stdout + result.stderr

    def expect(self, what, holds):
        if not holds:
            self.failures += 1
            print(f"FAILED {what}", flush=True)

    def close(self, what, name, expected):
        path = self.folder / "out" / f"{name}.npy"
        self.expect(f"{what}: {name}", path.exists() and np.allclose(np.load(path), expected, rtol=1e-5, atol=1e-6))


def example(run):
    """What the page shows."""
    blocks = {kind: text for kind, _, text in snippets.blocks(ROOT / "docs" / "custom-operators.md")}
    (run.folder / "acme.py").write_text(blocks["python"])
    (run.folder / "acme.c").write_text(blocks["c"])
    subprocess.run([os.environ.get("CC", "cc"), "-O2", "-fPIC", "-shared", f"-I{tvm_ffi.libinfo.find_dlpack_include_path()}", "-o", "acme.so", "acme.c"],
                   check=True, cwd=run.folder)
    onnx.save(onnx.parser.parse_model(MODEL), run.folder / "model.onnx")
    x = np.random.default_rng(0).standard_normal((3, 4)).astype(np.float32)
    np.save(run.folder / "x.npy", x)
    results = {"y": -np.maximum(np.exp(x) - 1.5, 0) / 2, "w": x.sum(0) + 1, "v": x / (1 + np.abs(x))}
    custom = ["--custom", "acme.py", "--custom", "acme.so"]
    given = ["--input", "x=x.npy", "--output-dir", "out"]

    status, said = run("inspect", "model.onnx")
    run.expect(f"inspect without: {said}", status == 4 and all(name in said for name in ("'lift', 'row'", "com.acme.Lift", "'halve'", "com.acme.Halve")))
    status, said = run("inspect", "model.onnx", "--custom", "acme.py")
    run.expect(f"inspect with: {said}", status == 0)
    for flags in ([], ["--no-fuse"], ["--backend", "none"]):
        status, said = run("run", "model.onnx", *custom, *given, *flags)
        run.expect(f"run {flags}: {said}", status == 0)
        for name, expected in results.items():
            run.close(f"run {flags}", name, expected)
            (run.folder / "out" / f"{name}.npy").unlink(missing_ok=True)
    status, said = run("verify", "model.onnx", *custom)
    run.expect(f"verify: {said}", status == 0)
    # It fuses: exp, add and relu are one kernel.
    status, said = run("explain", "model.onnx", *custom, "--backend", "none")
    run.expect(f"explain: {said}", status == 0 and "exp_add_relu" in said.replace("tir_", ""))
    # An artefact needs no files.
    status, said = run("compile", "model.onnx", *custom, "-o", "compiled.so")
    run.expect(f"compile: {said}", status == 0)
    for name in ("acme.py", "acme.so"):
        (run.folder / name).rename(run.folder / f"{name}.kept")
    status, said = run("run", "compiled.so", *given)
    run.expect(f"run an artefact: {said}", status == 0)
    for name, expected in results.items():
        run.close("an artefact", name, expected)
    for name in ("acme.py", "acme.so"):
        (run.folder / f"{name}.kept").rename(run.folder / name)


def others(run):
    (run.folder / "others.py").write_text(OTHERS)
    onnx.save(onnx.parser.parse_model(OTHER_MODEL), run.folder / "others.onnx")
    x = np.arange(-3, 3, dtype=np.float32)
    np.save(run.folder / "row.npy", x)
    status, said = run("run", "others.onnx", "--custom", "others.py", "--input", "x=row.npy", "--output-dir", "out")
    run.expect(f"others: {said}", status == 0)
    run.close("others", "y", (2 * x).reshape(2, 3))
    run.close("others", "z", -2 * x)


def errors(run):
    """Exit status and words of what cannot be."""
    texts = {
        "types": (MODEL.replace("float[N, 4]", "float16[N, 4]"), ["acme.py"], 3, ["'lift'", "float16", "lift takes", "lift_row takes"]),
        "inputs": (MODEL.replace("com.acme.Halve(b)", "com.acme.Halve(b, a)"), ["acme.py"], 3, ["'halve'", "halve takes"]),
        "text": (MODEL.replace("by: float = -1.5", 'by: string = "x"'), ["acme.py"], 4, ["'lift'", "attribute 'by'"]),
        "no library": (MODEL, ["acme.py"], 4, ["acme_halve"]),
        "not a library": (MODEL, ["acme.py", "bad.so"], 2, ["bad.so"]),
        "defines nothing": (MODEL.replace("com.acme.Halve(b)", "Neg(b)"), ["acme.py", "acme.so"], 2, ["acme.so", "defines none"]),
        "not a file of these": (MODEL, ["acme.c"], 2, ["acme.c"]),
        "attributes": (MODEL, ["wrong.py"], 3, ["lift", "'by'"]),
    }
    (run.folder / "bad.so").write_text("no library")
    (run.folder / "wrong.py").write_text((run.folder / "acme.py").read_text().replace('{"by": 1.0}', '{"of": 1.0}'))
    for name, (text, files, wanted, words) in texts.items():
        onnx.save(onnx.parser.parse_model(text), run.folder / "bad.onnx")
        status, said = run("run", "bad.onnx", *[flag for file in files for flag in ("--custom", file)])
        run.expect(f"{name}: exit status {status}, {said}", status == wanted and all(word in said for word in words))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", default=ROOT / "build" / "release" / "bin" / "deuteron")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        run = Runner(arguments.binary.resolve() if isinstance(arguments.binary, pathlib.Path) else pathlib.Path(arguments.binary).resolve(), pathlib.Path(temporary))
        example(run)
        others(run)
        errors(run)
    print(f"{run.failures} failures")
    sys.exit(5 if run.failures else 0)


if __name__ == "__main__":
    main()
