"""What `deuteron inspect` says of models: everything that is not supported at once, with nodes, reasons and ways out.

    python tests/onnx/inspect_cases.py [--binary PATH]
"""

import argparse
import pathlib
import subprocess
import sys
import tempfile

import onnx
import onnx.parser

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
HEADER = '<ir_version: 8, opset_import: ["" : 17, "com.acme" : 1]>'

# Name, model, exit status, what is said, what is not said.
CASES = [
    ("all is supported", HEADER + " g (float[2, 3] x) => (float[2, 3] y) { y = Relu(x) }", 0,
     ["Relu", "1 in all"], ["not supported", "not as ONNX says"]),
    ("several operators and uses at once", HEADER + """ g (float[2, 3] x, float[2, 3, N] z) => (float[2, 3] y, float[2, 3] w, int64[1] v, float u)
        <float[2, 3] t>
        { [first] t = com.acme.Foo(x)
          [second] a = com.acme.Bar(t)
          [behind] b = Relu(a)
          [third] y = com.acme.Foo(b)
          [spline] w = Resize<mode = "spline">(t, , , ends)
          [dft] u = DFT(z)
          [shape] v = Shape<start: int = 0, end: int = 1>(t)
          ends = Constant<value_ints: ints = [4, 6]>() }""", 3,
     ["com.acme.Foo: version 1 of domain com.acme has no such operator", "at 'first', 'third'", "com.acme.Bar", "at 'second'", "at 'spline'",
      "mode 'spline' is unknown", "at 'dft'", "the number of parts must be a number and is N", "its number, by --shape",
      "--custom", "not supported", "not as ONNX says"],
     ["'behind'", "'shape'"]),
    ("in a body", HEADER + """ g (float[2, 3] x, bool c) => (float[2, 3] y)
        { y = If(c) <then_branch = t () => (float[2, 3] p) { [inner] p = com.acme.Foo(x) }, else_branch = e () => (float[2, 3] q) { q = Neg(x) }> }""",
     4, ["at 'inner'", "for 1 reason"], ["not as ONNX says"]),
    ("in a loop that runs at run time", HEADER + """ g (float[2, 3] x, int64 n, bool c) => (float[2, 3] y)
        { y = Loop(n, c, x) <body = b (int64 i, bool d, float[2, 3] s) => (bool e, float[2, 3] r) { e = Identity(d) [inner] o = com.acme.Foo(s) r = Add(o, x) }> }""",
     4, ["at 'inner'", "for 1 reason"], ["not as ONNX says"]),
    ("a branch that contradicts its inputs", HEADER + """ g (float[1, 3, 8] x, bool c) => (float[] y)
        { y = If(c) <then_branch = t () => (float[] p) { p = Neg(x) }, else_branch = e () => (float[] q) { w = Constant <value: tensor = float[1, 4, 1] {1, 2, 3, 4}> () [never] q = Conv(x, w) }> }""",
     0, [], ["'never'"]),
    ("axes of length 1 that only the run knows", HEADER + " g (float[N, M, K, L] x) => (float[] y) { [which] y = Squeeze(x) }", 4,
     ["at 'which'", "more than 3 lengths that may be 1", "--shape"], []),
    ("a rank that a branch decides about", HEADER + """ g (float[2, M, 4] x) => (float[] y)
        { one = Constant <value: tensor = int64[1] {1}> () two = Constant <value: tensor = int64 {2}> () m = Shape <start: int = 1, end: int = 2> (x) c = Equal (m, one)
          s = If (c) <then_branch = a () => (float[2, 4] r) { r = Squeeze (x, one) }, else_branch = b () => (float[2, M, 4] r) { r = Identity (x) }>
          k = Shape (s) n = Size (k) d = Equal (n, two)
          t = If (d) <then_branch = e () => (float[] r) { r = Unsqueeze (s, one) }, else_branch = g () => (float[] r) { r = Identity (s) }>
          y = Softmax <axis: int = 1> (t) }""", 0, [], ["not supported"]),
    ("a rank that a branch decides about and a graph asks for", HEADER + """ g (float[2, M, 4] x, bool which) => (float[] y)
        { one = Constant <value: tensor = int64[1] {1}> () two = Constant <value: tensor = int64 {2}> () m = Shape <start: int = 1, end: int = 2> (x) c = Equal (m, one)
          s = If (c) <then_branch = a () => (float[2, 4] r) { r = Squeeze (x, one) }, else_branch = b () => (float[2, M, 4] r) { r = Identity (x) }>
          y = If (which) <then_branch = h () => (float[] p) {
                k = Shape (s) n = Size (k) d = Equal (n, two)
                q = If (d) <then_branch = e () => (float[] r) { r = Unsqueeze (s, one) }, else_branch = g () => (float[] r) { r = Identity (s) }>
                p = Unsqueeze (q, one) }, else_branch = j () => (float[] p) { p = Unsqueeze (x, one) }> }""", 0, [], ["not supported"]),
    ("texts", HEADER + " g (string[2] x, float[2] z) => (float[2] y) { y = Relu(z) [join] t = StringConcat(x, x) }", 4,
     ["'x'", "at 'join'", "it computes on texts", "for 2 reasons"], ["not as ONNX says"]),
    ("a newer operator set", '<ir_version: 8, opset_import: ["" : 99]> g (float[2, 3] x) => (float[2, 3] y) { y = Relu(x) }', 0,
     ["warning: the model uses operator set 99"], ["for 1 reason"]),
]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", default=ROOT / "build" / "release" / "bin" / "deuteron")
    arguments = parser.parse_args()
    failures = 0
    with tempfile.TemporaryDirectory() as temporary:
        path = pathlib.Path(temporary) / "model.onnx"
        for name, text, status, said, not_said in CASES:
            onnx.save(onnx.parser.parse_model(text), path)
            result = subprocess.run([str(arguments.binary), "inspect", str(path)], capture_output=True, text=True, timeout=60)
            output = result.stdout + result.stderr
            wrong = [words for words in said if words not in output] + [words for words in not_said if words in output]
            if result.returncode != status or wrong:
                failures += 1
                print(f"FAILED {name}: exit status {result.returncode}, expected {status}; {wrong}\n{output}")
    print(f"{len(CASES)} models, {failures} failures")
    sys.exit(5 if failures else 0)


if __name__ == "__main__":
    main()
