"""The cache of compiled models (docs/cache.md): what `deuteron run` prints and writes is the same whatever lies in it.

    python tests/cache_test.py BINARY
"""

import os
import pathlib
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import numpy as np
import onnx
from onnx import TensorProto, external_data_helper, helper, numpy_helper

BINARY = pathlib.Path(sys.argv[1])


def save_model(path, scale=1.0, external=False):
    """x (4, 64) by a weight of 64 KiB, and a function of it."""
    weight = (scale * np.random.default_rng(0).standard_normal((64, 256))).astype(np.float32)
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["x", "w"], ["y"]), helper.make_node("Tanh", ["y"], ["z"])],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [4, 64])],
        [helper.make_tensor_value_info("z", TensorProto.FLOAT, [4, 256])],
        [numpy_helper.from_array(weight, "w")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    if external:
        external_data_helper.convert_model_to_external_data(model, location="w.bin", size_threshold=0)
    onnx.save(model, path)


class Case:
    """A folder with a model, a cache and the result without one."""

    def __init__(self, folder, external=False, plain=False):
        self.folder = pathlib.Path(folder)
        self.cache = self.folder / "cache"
        self.model = self.folder / "model.onnx"
        # Without a cache no second start is expected, for which another library may be the better choice.
        self.same = [] if plain else ["--config", "expected_starts=2"]
        save_model(self.model, external=external)
        if plain:
            time.sleep(2.1)
        self.expect()

    def expect(self):
        """That of a model which no cache knows."""
        self.expected = self.result("off" if self.same else self.folder / f"cache of {time.monotonic_ns()}")[0]

    def command(self, cache, out, *flags):
        return [BINARY, "run", self.model, "--threads", "1", "--output-dir", out, "--cache", cache, *self.same, *flags]

    def result(self, cache=None, *flags, **process):
        """The output and the warnings of one run."""
        with tempfile.TemporaryDirectory(dir=self.folder) as out:
            done = subprocess.run(list(map(str, self.command(cache or self.cache, out, *flags))), capture_output=True, text=True, **process)
            assert done.returncode == 0, done.stderr
            return np.load(pathlib.Path(out) / "z.npy"), done.stderr.splitlines()

    def check(self, warnings, *flags, cache=None, **process):
        value, said = self.result(cache, *flags, **process)
        assert np.array_equal(value, self.expected), "another result"
        assert len(said) == warnings and all(line.startswith("warning: the cache") for line in said), said

    def entries(self):
        """Of each entry what tells whether it was written anew."""
        return {path.name: path.stat().st_ino for path in self.cache.glob("*.so")}

    def entry(self):
        [name] = self.entries()
        return self.cache / name


def used_again(case):
    case.check(0)
    written = case.entries()
    assert len(written) == 1
    case.check(0)
    assert case.entries() == written


def compile_takes_and_adds(case):
    """`compile --cache`: the second artefact is the first one's copy, and both explain their kernels; without the flag there is no cache."""

    def compiled(name, *flags):
        out = case.folder / name
        subprocess.run([BINARY, "compile", case.model, "-o", out, "--threads", "1", *flags], check=True, capture_output=True)
        return out

    alone = compiled("alone.so")
    assert not case.cache.exists()
    first = compiled("first.so", "--cache", case.cache)
    written = case.entries()
    assert len(written) == 1
    second = compiled("second.so", "--cache", case.cache)
    assert case.entries() == written and second.read_bytes() == first.read_bytes() == case.entry().read_bytes()
    for each in (alone, first, second):
        subprocess.run([BINARY, "explain", each, "--html", case.folder / "page.html"], check=True, capture_output=True)
        assert "@T.prim_func" in (case.folder / "page.html").read_text()
    compiled("several.so", "--target", "x86-64-v2,x86-64-v3", "--cache", case.cache)
    compiled("weights.so", "--no-weights", "--cache", case.cache)
    assert case.entries() == written and (case.folder / "weights.safetensors").exists()


def external_weights_are_part_of_the_key(case):
    used_again(case)
    save_model(case.model, scale=0.5, external=True)
    case.expect()
    case.check(0)
    assert len(case.entries()) == 2
    # The model's file alone is as it was.
    weights = case.folder / "w.bin"
    weights.write_bytes(weights.read_bytes()[4:] + b"\0\0\0\0")
    case.expect()
    case.check(0)
    assert len(case.entries()) == 3


def options_are_part_of_the_key(case):
    for flags in [(), ("--opt-level", "0"), ("--backend", "none"), ("--target", "llvm -mcpu=x86-64-v3"),
                  ("--config", "relax.FuseOps.max_depth=7"), ("--disable-pass", "PackWeights")]:
        case.result(None, *flags)
    assert len(case.entries()) == 6


def damaged(case):
    """Every part of an entry: kernels, byte code, manifest, weights, trailer."""
    case.check(0)
    whole = case.entry().read_bytes()
    weights = whole.rindex(b"\0" * 64, 0, len(whole) - 40_000)
    places = [0, 100, len(whole) // 8, weights + 4096, len(whole) - 30_000, len(whole) - 89, len(whole) - 88, len(whole) - 76, len(whole) - 1]
    # Between the parts lie zeros that mean nothing: how many depends on the code for this processor.
    places = [next(i for i in range(at, len(whole)) if whole[i] != 0) for at in places]
    pieces = [whole[:at] + bytes([whole[at] ^ 0x10]) + whole[at + 1 :] for at in places]
    pieces += [b"", b"nothing", whole[:1000], whole[:-1], whole + b"\0", whole[4096:]]
    for piece in pieces:
        case.entry().write_bytes(piece)
        said = case.result()
        assert np.array_equal(said[0], case.expected) and len(said[1]) == 1, said[1]
        assert case.entry().read_bytes()[-88:-60] == whole[-88:-60], "not replaced"
        case.check(0)


def notes_of_files(case):
    """The second run after the model was left alone reads a note instead of it; a damaged one counts for nothing."""
    time.sleep(2.1)
    case.check(0)
    [note] = case.cache.glob("*.files")
    whole = note.read_bytes()
    for piece in [whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :] for at in range(0, len(whole), 40)] + [b"", whole[:-30], b"{}\n"]:
        note.write_bytes(piece)
        case.check(0)
        assert note.read_bytes() == whole, "not replaced"
    save_model(case.model, scale=0.5)
    case.expect()
    case.check(0)
    # Of an entry that is damaged, it is the model that is read.
    time.sleep(2.1)
    case.check(0)
    for entry in case.cache.glob("*.so"):
        entry.write_bytes(entry.read_bytes()[:-1])
    case.check(1)
    case.check(0)
    for entry in case.cache.glob("*.so"):
        entry.unlink()
    case.check(0)
    assert len(list(case.cache.glob("*.files"))) == 1


def runs_need_no_compiler(case):
    """Once a run is known, the runtime library alone does it again, as long as nothing that it depends on is another."""

    def with_compiler(*flags, **environment):
        return "libdeuteron.so" in opened(case, *flags, **environment)

    assert with_compiler() and not with_compiler()
    case.check(0)
    [note] = case.cache.glob("*.run")
    whole = note.read_bytes()
    for piece in [whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :] for at in range(0, len(whole), 40)] + [b"", whole[:-30], b"{}\n"]:
        note.write_bytes(piece)
        case.check(0)
        assert note.read_bytes() == whole, "not replaced"
    # Inputs, results and random numbers are those of the whole command.
    given = case.folder / "x.npy"
    np.save(given, np.random.default_rng(1).standard_normal((4, 64)).astype(np.float32))
    for flags in [("--seed", "3"), (f"--input=x={given}",)]:
        assert not with_compiler(*flags)
        assert np.array_equal(case.result(None, *flags)[0], case.result(None, "--progress", "none", *flags)[0])
    # What is wrong the whole command says.
    for flags, status, message in [(("--input", "y=x.npy"), 2, "y"), (("--input", f"x={case.folder}/none.npy"), 2, "none.npy"), (("--seed", "-1"), 2, "--seed"),
                                   (("--backend", "nothing"), 2, "nothing"), (("--output-dir", "/dev/null/results"), 2, "/dev/null/results")]:
        command = [BINARY, "run", case.model, "--threads", "1", "--cache", case.cache, *flags]
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
        assert done.returncode == status and message in done.stderr, done
    with open("/dev/full", "w") as full:
        done = subprocess.run(list(map(str, case.command(case.cache, case.folder / "out"))), stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 2 and "cannot write to standard output" in done.stderr, done
    # Of another folder, other threads, another machine, other libraries.
    assert with_compiler("--backend", "none") and not with_compiler("--backend", "none")
    assert with_compiler(DEUTERON_HOST="x86-64-v2") and with_compiler(LD_LIBRARY_PATH=str(case.folder))
    assert not with_compiler()
    entry = case.entries()
    os.utime(case.model)
    assert with_compiler() and case.entries() == entry
    for each in case.cache.glob("*.so"):
        each.unlink()
    assert with_compiler()
    # Nor does a compiled model need it.
    compiled = case.folder / "compiled.so"
    subprocess.run([BINARY, "compile", case.model, "-o", compiled, "--threads", "1", "--config", "expected_runs=1"], check=True, capture_output=True)
    case.model = compiled
    assert not with_compiler()
    compiled.write_bytes(compiled.read_bytes()[:-1])
    done = subprocess.run([BINARY, "run", compiled], capture_output=True, text=True)
    assert done.returncode == 3 and "compiled.so" in done.stderr, done


def opened(case, *flags, **environment):
    """The libraries that a run opens, by their names."""
    with tempfile.TemporaryDirectory(dir=case.folder) as out:
        command = list(map(str, case.command(case.cache, out, *flags)))
        said = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "LD_DEBUG": "files", **environment}, check=True).stderr
    return {pathlib.Path(line.split()[-1]).name for line in said.splitlines() if "calling init: " in line}


def nothing_is_opened_to_compile(case):
    """A second run needs neither LLVM nor, to know which entry is its own, the libraries of back ends."""
    time.sleep(2.1)
    # Compiled for many runs, all kernels of this network are generated code.
    assert "libdeuteron_llvm.so" in opened(case, "--config", "expected_runs=0")
    again = opened(case, "--config", "expected_runs=0")
    assert "libdeuteron.so" in again and case.entry().name in again
    needless = [name for name in again if re.match("libdeuteron_(?!runtime|command)|libLLVM|libdnnl", name)]
    assert not needless, needless
    if has_library():
        # A network whose kernels are all a library's needs no LLVM, not even the first time.
        for _ in range(2):
            libraries = opened(case, "--backend", "dnnl")
            assert "libdnnl.so.3" in libraries and "libdeuteron_llvm.so" not in libraries, libraries


def has_library():
    return any(BINARY.parent.parent.glob("lib/libdeuteron_dnnl.so"))


def libraries_are_part_of_the_key(case):
    """Those that would be opened: another one, which comes first now, counts at once."""
    if not has_library():
        return
    # All generated code, whichever libraries there are.
    flags = ("--config", "expected_runs=0")
    case.expected = case.result("off", *flags)[0]
    time.sleep(2.1)
    case.check(0, *flags)
    assert len(case.entries()) == 1
    first = case.folder / "first"
    first.mkdir()
    (first / "libdnnl.so.3").write_text("no library")
    environment = {**os.environ, "LD_LIBRARY_PATH": str(first)}
    for _ in range(2):
        case.check(0, *flags, env=environment)
        assert len(case.entries()) == 2
    (first / "libdnnl.so.3").unlink()
    case.check(0, *flags, env=environment)
    assert len(case.entries()) == 2


def names_that_are_no_texts(case):
    """A file's name is any bytes."""
    case.model = case.folder / os.fsdecode(b"m\xff\xc3\xa9.onnx")
    save_model(case.model)
    time.sleep(2.1)
    case.check(0)
    case.check(0)
    assert len(list(case.cache.glob("*.files"))) == 1
    subprocess.run([BINARY, "bench", case.model, "--json", "--seconds", "0.01"], check=True, capture_output=True)


def cannot_be_written(case):
    blocked = case.folder / "file"
    blocked.write_text("")
    case.check(1, cache=blocked / "cache")

    def little_space():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))

    case.check(1, preexec_fn=little_space)
    assert not list(case.cache.iterdir()), "a part is left"


def read_only(case):
    case.check(0)
    case.cache.chmod(0o555)
    case.check(0)
    case.cache.chmod(0o755)


def stale_parts_are_removed(case):
    case.cache.mkdir()
    old, new = case.cache / "0.so.1-0.part", case.cache / "0.so.2-0.part"
    for path in (old, new):
        path.write_text("a part")
    os.utime(old, (time.time() - 7200,) * 2)
    case.check(0)
    assert not old.exists() and new.exists()


def others_make_room(case):
    """Entries and the whole folder come and go while processes look for them, load and write them: of that nobody says anything."""
    case.check(0)
    entry, copy = case.entry(), case.folder / "copy.so"
    shutil.copy(entry, copy)
    chance = random.Random(0)

    def entry_comes_and_goes():
        entry.unlink(missing_ok=True)
        time.sleep(chance.uniform(0, 0.002))
        shutil.copy(copy, copy.with_suffix(".new"))
        copy.with_suffix(".new").replace(entry)

    def folder_goes():
        shutil.rmtree(case.cache, ignore_errors=True)

    for change in [entry_comes_and_goes, folder_goes]:
        with tempfile.TemporaryDirectory(dir=case.folder) as temporary:
            for turn in range(20):
                out = pathlib.Path(temporary) / str(turn)
                process = subprocess.Popen(list(map(str, case.command(case.cache, out))), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
                while process.poll() is None:
                    change()
                    time.sleep(chance.uniform(0, 0.002))
                said = process.stderr.read()
                assert (said, process.returncode) == ("", 0), said
                assert np.array_equal(np.load(out / "z.npy"), case.expected)


def processes_share_it(case):
    """Some at once, on an empty folder, where each loads what another replaces; then some of which every other is
    killed at some time."""
    for _ in range(20):
        for path in case.cache.glob("*"):
            path.unlink()
        with tempfile.TemporaryDirectory(dir=case.folder) as out:
            outs = [pathlib.Path(out) / str(i) for i in range(4)]
            several = [subprocess.Popen(list(map(str, case.command(case.cache, out))), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) for out in outs]
            for out, process in zip(outs, several):
                assert (process.communicate()[1], process.returncode) == ("", 0)
                assert np.array_equal(np.load(out / "z.npy"), case.expected)
    chance = random.Random(0)
    for _ in range(6):
        for path in case.cache.iterdir():
            path.unlink()
        with tempfile.TemporaryDirectory(dir=case.folder) as out:
            killed = subprocess.Popen(list(map(str, case.command(case.cache, out))), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(chance.uniform(0, 0.3))
            killed.kill()
            case.check(0)
            killed.wait()
        case.check(0)


def main():
    tests = [used_again, compile_takes_and_adds, options_are_part_of_the_key, damaged, notes_of_files, nothing_is_opened_to_compile, libraries_are_part_of_the_key, names_that_are_no_texts, cannot_be_written, read_only, stale_parts_are_removed, others_make_room, processes_share_it]
    plain = [used_again, damaged, runs_need_no_compiler, read_only, others_make_room, processes_share_it]
    for test, is_plain in [(test, False) for test in tests] + [(test, True) for test in plain]:
        with tempfile.TemporaryDirectory() as folder:
            test(Case(folder, plain=is_plain))
            print(test.__name__, "passed", flush=True)
    for is_plain in [False, True]:
        with tempfile.TemporaryDirectory() as folder:
            external_weights_are_part_of_the_key(Case(folder, external=True, plain=is_plain))


if __name__ == "__main__":
    main()
