"""`run --dump-intermediates` has every tensor of a network by its name, as ONNX Runtime computes it; `diff` finds the first that
is not so.

    python tests/diff_test.py DEUTERON
"""

import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnx

ROOT = pathlib.Path(__file__).resolve().parent.parent


def main():
    command = sys.argv[1]

    def run(*arguments, status=0):
        result = subprocess.run([command, *map(str, arguments)], capture_output=True, text=True)
        assert result.returncode == status, (arguments, result.returncode, result.stderr)
        return result

    with tempfile.TemporaryDirectory(prefix="deuteron-diff-") as name:
        work = pathlib.Path(name)
        model, x, ours, theirs = work / "model.onnx", work / "x.npy", work / "ours", work / "theirs"
        subprocess.run([sys.executable, ROOT / "tests/networks/make.py", "--size", "small", "mobilenetv2", model], check=True)
        graph = onnx.load(model).graph
        [declared] = graph.input
        shape = [dim.dim_value for dim in declared.type.tensor_type.shape.dim]
        np.save(x, np.random.default_rng(0).standard_normal(shape).astype(np.float32))
        given = ["--input", f"{declared.name}={x}"]
        plain = run("run", model, *given, "--output-dir", work / "plain")
        dumped = run("run", model, *given, "--dump-intermediates", ours, "--output-dir", work / "out")
        assert dumped.stdout == plain.stdout, (dumped.stdout, plain.stdout)
        names = [name for node in graph.node for name in node.output]
        assert len(names) > 20 and [entry["name"] for entry in json.loads((ours / "order.json").read_text())] == names
        assert sorted(path.name for path in (work / "out").iterdir()) == sorted(path.name for path in (work / "plain").iterdir())
        subprocess.run([sys.executable, ROOT / "tools/dump_onnxruntime.py", model, theirs, f"{declared.name}={x}"], check=True)
        same = run("diff", theirs, ours)
        assert same.stdout == "" and f"{len(names)} tensors compared, 0 differ" in same.stderr, same.stderr
        assert run("diff", theirs, ours, "--all").stdout.count("agrees") == len(names)

        # One element of a tensor in the middle, and one that comes later.
        files = {entry["name"]: ours / entry["file"] for entry in json.loads((ours / "order.json").read_text())}
        for index in (len(names) // 2, len(names) - 2):
            tensor = np.load(files[names[index]])
            tensor.reshape(-1)[0] += 1 + np.abs(tensor).max()
            np.save(files[names[index]], tensor)
        wrong = run("diff", theirs, ours, status=5)
        assert f"the first that differs is {names[len(names) // 2]}: differs by 1" in wrong.stderr, wrong.stderr
        assert len(wrong.stdout.splitlines()) == 2, wrong.stdout
        # Other dtypes and shapes, NaN, files that are not there.
        first, second, third = (files[name] for name in names[:3])
        np.save(first, np.zeros(3, np.int8))
        tensor = np.load(second)
        tensor.reshape(-1)[1] = np.nan
        np.save(second, tensor)
        third.unlink()
        wrong = run("diff", theirs, ours, status=5)
        lines = wrong.stdout.splitlines()
        assert "int8 (3) instead of float32" in lines[0] and "NaN or infinity in other places" in lines[1], lines
        assert f"not in {ours}: {names[2]}\n" in wrong.stderr, wrong.stderr

        run("diff", theirs, work / "nowhere", status=2)
        (work / "empty").mkdir()
        run("diff", theirs, work / "empty", status=2)
        (ours / "order.json").write_text("[{}]")
        run("diff", ours, theirs, status=3)
        run("compile", model, "-o", work / "model.so")
        refused = run("run", work / "model.so", "--dump-intermediates", ours, status=2)
        assert "takes the .onnx model" in refused.stderr


if __name__ == "__main__":
    main()
