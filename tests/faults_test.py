"""What happens to the machine while the library is at work: killed processes, full and read-only disks, forks, inputs that are wrong once.

    python tests/faults_test.py BINARY

As root, in a mount namespace of its own (disks that are full are small ones in memory); else what needs that is left out, and said so. Little memory
is `little_memory`'s, killed processes that share a cache are `cache_test`'s too.
"""

import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import deuteron

BINARY = sys.argv[1]
USAGE = 2
SECONDS = 120
"""Of a process that hangs."""


def save_model(path):
    """x (n, 256) by a weight of 1 MB, and what loops of several threads make of it."""
    weight = np.random.default_rng(0).integers(-3, 4, (256, 1024)).astype(np.float32)
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["x", "w"], ["a"]), helper.make_node("Relu", ["a"], ["y"]), helper.make_node("Neg", ["y"], ["z"])],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 256])],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", 1024]) for name in "yz"],
        [numpy_helper.from_array(weight, "w")],
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), path)
    return weight


class Case:
    """A folder with a model and an input; what it gives is exact, since all numbers are small integers."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.model = self.folder / "model.onnx"
        weight = save_model(self.model)
        self.x = np.random.default_rng(1).integers(-3, 4, (2000, 256)).astype(np.float32)
        np.save(self.folder / "x.npy", self.x)
        self.y = np.maximum(self.x @ weight, 0)

    def run(self, out, cache="off", model=None):
        return [BINARY, "run", model or self.model, "--input", f"x={self.folder / 'x.npy'}", "--output-dir", out, "--cache", cache]

    def compile(self, out):
        return [BINARY, "compile", self.model, "-o", out]

    def check_outputs(self, folder):
        """Those that are there are whole."""
        there = sorted(path.name for path in folder.glob("*.npy"))
        for name in there:
            assert np.array_equal(np.load(folder / name), self.y if name == "y.npy" else -self.y), f"{name} is not what it was"
        return there


def start(command, **more):
    """With further variables of its environment. What Python preloads of a sanitizer is not the command's, which has its own."""
    environment = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"} | more
    return subprocess.Popen(list(map(str, command)), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=environment)


def wait(process):
    """A process that hangs is ended, and fails the test."""
    try:
        return process.communicate(timeout=SECONDS)[1]
    except subprocess.TimeoutExpired:
        process.kill()
        raise


def said(command, status):
    """What a command says that ends with that status."""
    process = start(command)
    text = wait(process)
    assert process.returncode == status, f"status {process.returncode}, expected {status}: {text}"
    return text


def killed_while_it_writes(case):
    """At any moment: what lies under its final name is whole, nothing stays among the temporary files, and the next process does as if nothing had been."""
    chance = random.Random(0)
    ended = {}
    for turn in range(24):
        with tempfile.TemporaryDirectory(dir=case.folder) as temporary:
            out = pathlib.Path(temporary)
            commands = {"artefact": case.compile(out / "m.so"), "outputs": case.run(out), "cache": case.run(out, cache=out / "cache")}
            what = list(commands)[turn % 3]
            aside = out / "temporary"
            aside.mkdir()
            begin = time.monotonic()
            process = start(commands[what], TMPDIR=str(aside))
            if turn < 3:
                wait(process)
                ended[what] = time.monotonic() - begin
            else:
                # Files are written in the last part.
                time.sleep(ended[what] * chance.uniform(0.3, 1.05))
                process.kill()
                wait(process)
            assert not list(aside.rglob("*")), "it leaves temporary files"
            case.check_outputs(out)
            if (out / "m.so").exists():
                said(case.run(out / "again", model=out / "m.so"), 0)
                assert case.check_outputs(out / "again") == ["y.npy", "z.npy"]
            for entry in (out / "cache").glob("*.so"):
                said([BINARY, "run", entry, "--input", f"x={case.folder / 'x.npy'}", "--verify"], 0)
            assert said(commands[what], 0).count("warning") == 0


class Disk:
    """A small one in memory, at `path`."""

    def __init__(self, case, size):
        self.path = case.folder / "disk"
        self.path.mkdir(exist_ok=True)
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", self.path], check=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        subprocess.run(["umount", self.path], check=True)

    def make_read_only(self):
        subprocess.run(["mount", "-o", "remount,ro", self.path], check=True)

    def files(self):
        return sorted(path.name for path in self.path.rglob("*") if path.is_file())


def full_disk(case):
    with Disk(case, "256k") as disk:
        assert "y.npy: No space left on device" in said(case.run(disk.path), USAGE)
        assert disk.files() == []
        assert "m.so: No space left on device" in said(case.compile(disk.path / "m.so"), USAGE)
        assert disk.files() == []
        with tempfile.TemporaryDirectory(dir=case.folder) as out:
            assert "warning: the cache" in said(case.run(out, cache=disk.path / "cache"), 0)
            assert case.check_outputs(pathlib.Path(out)) == ["y.npy", "z.npy"]
        assert disk.files() == []
    # One of two outputs has room: it is whole.
    with Disk(case, "12m") as disk:
        assert "z.npy: No space left on device" in said(case.run(disk.path), USAGE)
        assert case.check_outputs(disk.path) == ["y.npy"] == disk.files()


def read_only_disk(case):
    with Disk(case, "64m") as disk:
        said(case.compile(disk.path / "m.so"), 0)
        said(case.run(disk.path, cache=disk.path / "cache"), 0)
        files = disk.files()
        disk.make_read_only()
        assert "y.npy: Read-only file system" in said(case.run(disk.path), USAGE)
        assert "m.so: Read-only file system" in said(case.compile(disk.path / "m.so"), USAGE)
        assert "Read-only file system" in said(case.run(disk.path / "new"), USAGE)
        assert disk.files() == files
        # What is read only is read.
        with tempfile.TemporaryDirectory(dir=case.folder) as out:
            said(case.run(out, model=disk.path / "m.so"), 0)
            assert case.check_outputs(pathlib.Path(out)) == ["y.npy", "z.npy"]
            assert said(case.run(out, cache=disk.path / "cache"), 0) == ""


def wrong_once_in_a_thousand_calls(case):
    model = deuteron.compile(case.model, threads=2)
    x = case.x[:3]
    wrong = [x[:, :-1], x.astype(np.float64), x[0], np.zeros((3, 257), np.float32)]
    for call in range(1, 3001):
        if call % 1000:
            assert np.array_equal(model(x)[0], case.y[:3])
            continue
        for given in wrong:
            try:
                model(given)
            except deuteron.UsageError as error:
                assert "x" in str(error), error
            else:
                raise AssertionError("a wrong input was taken")


def forks(case):
    """After models have been loaded and run, and while another thread runs one: children compute by themselves."""
    for backend in ("none", "auto"):
        compiled = deuteron.compile(case.model, threads=4, backend=backend)
        compiled.save(case.folder / f"{backend}.so")
        model = deuteron.load(case.folder / f"{backend}.so", threads=4)
        model(case.x)
        stop = threading.Event()

        def run():
            while not stop.is_set():
                compiled(case.x)

        other = threading.Thread(target=run)
        other.start()
        try:
            for _ in range(6):
                status = os.waitpid(fork_to_compute(model, case), 0)[1]
                assert status == 0, f"a child ended with {status}"
        finally:
            stop.set()
            other.join()


def fork_to_compute(model, case):
    child = os.fork()
    if child != 0:
        return child
    status = 1
    try:
        signal.alarm(SECONDS)
        status = 0 if all(np.array_equal(model(case.x)[0], case.y) for _ in range(3)) else 2
    finally:
        os._exit(status)


def main():
    can_mount = os.geteuid() == 0 and subprocess.run(["unshare", "-m", "true"], capture_output=True).returncode == 0
    if can_mount and "--in-namespace" not in sys.argv:
        sys.exit(subprocess.run(["unshare", "-m", sys.executable, *sys.argv, "--in-namespace"]).returncode)
    tests = [killed_while_it_writes, wrong_once_in_a_thousand_calls, forks]
    for test in (full_disk, read_only_disk):
        if can_mount:
            tests.append(test)
        else:
            print(f"{test.__name__} left out: no file system can be mounted here")
    for test in tests:
        with tempfile.TemporaryDirectory() as folder:
            begin = time.monotonic()
            test(Case(folder))
            print(f"{test.__name__} passed ({time.monotonic() - begin:.1f} s)", flush=True)


if __name__ == "__main__":
    main()
