"""What happens to the machine while the library is at work: killed processes, full and read-only disks, forks, inputs that are wrong once; and
what a machine does not give: system calls, memory to execute, files of any size, a decimal point.

    python tests/faults_test.py BINARY

As root, in a mount namespace of its own (disks that are full are small ones in memory); else what needs that is left out, and said so. Little memory
is `little_memory`'s, killed processes that share a cache are `cache_test`'s too.
"""

import ctypes
import errno
import os
import pathlib
import platform
import random
import resource
import signal
import struct
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
USAGE, UNSUPPORTED = 2, 4
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


def start(command, before=None, **more):
    """With further variables of its environment, after `before` in the process. What Python preloads of a sanitizer is not the command's, which has its own."""
    environment = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"} | more
    return subprocess.Popen(
        list(map(str, command)), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=environment, preexec_fn=before
    )


def wait(process):
    """A process that hangs is ended, and fails the test."""
    try:
        return process.communicate(timeout=SECONDS)[1]
    except subprocess.TimeoutExpired:
        process.kill()
        raise


def said(command, status, before=None):
    """What a command says that ends with that status."""
    process = start(command, before)
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


def refuse(system_call, flag_of_third=0):
    """From here on the system refuses this process calls of that number, as the rules of a service or a container may have it; those alone that
    have the flag in their third argument, if one is given. Any user may ask for it, and nobody takes it back."""

    def step(code, value, if_true=0, if_false=0):
        return struct.pack("HBBI", code, if_true, if_false, value)

    load_word, jump_if_equal, jump_if_set, leave = 0x20, 0x15, 0x45, 0x06
    third_argument = 16 + 2 * 8
    refused, allowed = 0x00050000 | errno.EPERM, 0x7FFF0000
    steps = [step(load_word, 0), step(jump_if_equal, system_call, 0, 3 if flag_of_third else 1)]
    if flag_of_third:
        steps += [step(load_word, third_argument), step(jump_if_set, flag_of_third, 0, 1)]
    steps += [step(leave, refused), step(leave, allowed)]
    program = ctypes.create_string_buffer(b"".join(steps))
    filters = struct.pack("HxxxxxxP", len(steps), ctypes.addressof(program))
    no_new_privileges, set_seccomp, mode_filter = 38, 22, 2
    libc = ctypes.CDLL(None, use_errno=True)
    for call in ((no_new_privileges, 1, 0, 0, 0), (set_seccomp, mode_filter, ctypes.c_char_p(filters), 0, 0)):
        if libc.prctl(*call) != 0:
            raise OSError(ctypes.get_errno(), "seccomp")


def can_refuse():
    if platform.machine() != "x86_64":  # whose numbers these are
        return False
    child = os.fork()
    if child == 0:
        try:
            refuse(MPROTECT, PROT_EXEC)
        except OSError:
            os._exit(1)
        os._exit(0)
    return os.waitpid(child, 0)[1] == 0


POLL, MPROTECT, SYSINFO, PIPE2, MEMFD_CREATE = 7, 10, 99, 293, 319
PROT_EXEC = 4


def system_calls_are_refused(case):
    """Without files in memory or pipes kernels are linked, and several artefacts of one file loaded, by way of temporary files, of which none stays.
    What cannot be waited for, and how much memory there is, is done without."""
    several = ["--target", "x86-64-v2,x86-64"]
    said([*case.compile(case.folder / "m.so"), *several], 0)
    for call in (MEMFD_CREATE, PIPE2, POLL, SYSINFO):
        with tempfile.TemporaryDirectory(dir=case.folder) as folder:
            out, aside = pathlib.Path(folder), pathlib.Path(folder) / "temporary"
            aside.mkdir()
            for command in ([*case.compile(out / "m.so"), *several], case.run(out, model=case.folder / "m.so")):
                process = start(command, lambda: refuse(call), TMPDIR=str(aside))  # noqa: B023
                text = wait(process)
                assert process.returncode == 0, text
            assert (out / "m.so").read_bytes() == (case.folder / "m.so").read_bytes()
            assert case.check_outputs(out) == ["y.npy", "z.npy"]
            assert not list(aside.rglob("*")), "it leaves temporary files"


def save_convolution(path):
    """One that takes longer to compile than oneDNN takes to make it."""
    graph = helper.make_graph(
        [helper.make_node("Conv", ["x", "w"], ["y"])],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 16, 32, 32])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 16, 30, 30])],
        [numpy_helper.from_array(np.ones((16, 16, 3, 3), np.float32), "w")],
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), path)


def nothing_written_is_executed(case):
    """As in a service with MemoryDenyWriteExecute: kernels are loaded as a library is, and oneDNN, which writes its own, is not asked."""

    def before():
        refuse(MPROTECT, PROT_EXEC)

    for backend in ("none", "auto"):
        with tempfile.TemporaryDirectory(dir=case.folder) as out:
            said([*case.run(out), "--backend", backend], 0, before)
            assert case.check_outputs(pathlib.Path(out)) == ["y.npy", "z.npy"]
    # What another process has kept with kernels of oneDNN is not taken.
    save_convolution(case.folder / "convolution.onnx")
    for refuses in (None, before):
        assert said([BINARY, "run", case.folder / "convolution.onnx", "--backend", "auto", "--cache", case.folder / "cache"], 0, refuses) == ""
    said([*case.compile(case.folder / "m.so"), "--backend", "dnnl"], 0)
    for command in ([*case.run(case.folder / "out"), "--backend", "dnnl"], case.run(case.folder / "out", model=case.folder / "m.so")):
        assert "oneDNN writes code as it runs, which this process may not execute" in said(command, UNSUPPORTED, before)


def no_large_files(case):
    """`ulimit -f`: what is too large is told, and nothing of it stays."""

    def before():
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))

    with tempfile.TemporaryDirectory(dir=case.folder) as folder:
        out = pathlib.Path(folder)
        assert "y.npy: File too large" in said(case.run(out), USAGE, before)
        assert "m.so: File too large" in said(case.compile(out / "m.so"), USAGE, before)
        warning = said(case.run(out, cache=out / "cache"), USAGE, before)
        assert "warning: the cache" in warning and "y.npy: File too large" in warning
        assert [path for path in out.rglob("*") if path.is_file()] == []


def save_gelu(path):
    """Spelled out, as exporters do: numbers tell oneDNN's patterns what it is."""
    numbers = {"w": np.ones((64, 64)), "root": np.array(2**0.5), "one": np.array(1.0), "half": np.array(0.5)}
    nodes = [("MatMul", "xw", "m"), ("Div", ["m", "root"], "d"), ("Erf", "d", "e"), ("Add", ["e", "one"], "a"), ("Mul", "ma", "b"), ("Mul", ["b", "half"], "y")]
    graph = helper.make_graph(
        [helper.make_node(op, list(inputs), [output]) for op, inputs, output in nodes],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1000, 64])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1000, 64])],
        [numpy_helper.from_array(value.astype(np.float32), name) for name, value in numbers.items()],
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), path)


def decimal_commas(case):
    """In a program that has chosen a locale with them, models are compiled, and explained, as in any other."""
    made = subprocess.run(["localedef", "-i", "de_DE", "-f", "UTF-8", case.folder / "de_DE.UTF-8"], capture_output=True, text=True)
    if made.returncode != 0:
        return print(f"decimal_commas left out: {made.stderr.strip()}")
    save_gelu(case.folder / "gelu.onnx")
    program = """
import locale, sys
import deuteron
locale.setlocale(locale.LC_ALL, sys.argv[2])
print(locale.localeconv()["decimal_point"], deuteron.explain(sys.argv[1], backend="dnnl").text(), sep="\\n")
"""
    texts = []
    for name in ("C", "de_DE.UTF-8"):
        command = [sys.executable, "-c", program, case.folder / "gelu.onnx", name]
        done = subprocess.run(command, capture_output=True, text=True, env=os.environ | {"LOCPATH": str(case.folder)})
        assert done.returncode == 0, done.stderr
        texts.append(done.stdout)
    assert (texts[0][0], texts[1][0]) == (".", ",")
    assert texts[0][1:] == texts[1][1:], "\n".join(texts)


def main():
    can_mount = os.geteuid() == 0 and subprocess.run(["unshare", "-m", "true"], capture_output=True).returncode == 0
    if can_mount and "--in-namespace" not in sys.argv:
        sys.exit(subprocess.run(["unshare", "-m", sys.executable, *sys.argv, "--in-namespace"]).returncode)
    tests = [killed_while_it_writes, wrong_once_in_a_thousand_calls, forks, no_large_files, decimal_commas]
    for test in (system_calls_are_refused, nothing_written_is_executed):
        if can_refuse():
            tests.append(test)
        else:
            print(f"{test.__name__} left out: system calls cannot be refused here")
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
