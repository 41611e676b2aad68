"""Installs the package, moves it to another prefix, builds the programs of examples/embed against it by find_package,
and runs them: the compiler's result and that of the runtime library alone on the artefact must be the same.

    python tests/install_test.py BUILD_DIR
"""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

ROOT = pathlib.Path(__file__).resolve().parent.parent


def run(*command, **options):
    return subprocess.run(list(map(str, command)), check=True, text=True, stdout=subprocess.PIPE, **options).stdout


def write_model(path):
    weight = numpy_helper.from_array(np.random.default_rng(1).standard_normal((6, 4)).astype(np.float32), "w")
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["x", "w"], ["y"]), helper.make_node("Relu", ["y"], ["z"])],
        "embed",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [3, 6])],
        [helper.make_tensor_value_info("z", TensorProto.FLOAT, [3, 4])],
        [weight],
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), path)


def write_convolution(path):
    weight = numpy_helper.from_array(np.ones((64, 64, 3, 3), np.float32), "w")
    graph = helper.make_graph(
        [helper.make_node("Conv", ["x", "w"], ["y"], pads=[1, 1, 1, 1])],
        "convolution",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 64, 28, 28])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 64, 28, 28])],
        [weight],
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), path)


def check_plugins(prefix, work):
    """oneDNN moves with the package; without the plugin, what needs it says so by name."""
    plugin = prefix / "lib/libdeuteron_dnnl.so"
    if not plugin.exists():
        return
    command, model, artefact = prefix / "bin/deuteron", work / "model.onnx", work / "library.so"
    needed = run("ldd", plugin).splitlines()
    assert any(str(prefix) in line for line in needed if "libdnnl" in line), needed
    run(command, "compile", model, "--backend", "dnnl", "-o", artefact, stderr=subprocess.DEVNULL)
    assert "float32 (3, 4)" in run(command, "run", artefact, cwd="/")
    plugin.rename(work / "elsewhere.so")
    for arguments in (["run", artefact], ["run", model, "--backend", "dnnl"]):
        result = subprocess.run([command, *map(str, arguments)], capture_output=True, text=True)
        assert result.returncode == 4 and "libdeuteron_dnnl.so is not installed" in result.stderr, (arguments, result.stderr)
    # What takes a library where it pays does without.
    assert "float32 (3, 4)" in run(command, "run", model, "--backend", "auto")
    # So does what counted on a library that turns out, when it is opened, not to be one.
    convolution, taken = work / "convolution.onnx", work / "convolution.so"
    write_convolution(convolution)
    plugin.write_bytes(bytes(4096))
    for arguments in (["run", convolution, "--backend", "dnnl"], ["compile", model, "--backend", "dnnl", "-o", taken]):
        result = subprocess.run([command, *map(str, arguments)], capture_output=True, text=True)
        assert result.returncode == 4 and "cannot run here" in result.stderr, (arguments, result.stderr)
    without = run(command, "run", convolution, "--cache", "off")
    plugin.unlink()
    (work / "elsewhere.so").rename(plugin)
    run(command, "compile", convolution, "--config", "expected_runs=1", "-o", taken, stderr=subprocess.DEVNULL)
    plugin.rename(work / "elsewhere.so")
    result = subprocess.run([command, "run", taken], capture_output=True, text=True)
    assert result.returncode == 4, "auto is to take the library for a convolution that runs once"
    (work / "elsewhere.so").rename(plugin)
    assert "float32 (1, 64, 28, 28)" in without, without


def check_generator(prefix, work):
    """LLVM's library is needed to compile, and not to run what was compiled: where it is missing, that is said."""
    command, model, artefact, cache = prefix / "bin/deuteron", work / "model.onnx", work / "model.so", work / "cache"
    time.sleep(2.1)  # the model counts as settled then (docs/cache.md)
    run(command, "run", model, "--cache", cache)
    library, elsewhere = prefix / "lib/libdeuteron_llvm.so", work / "elsewhere.so"
    library.rename(elsewhere)
    result = subprocess.run([command, "run", model, "--cache", "off", "--backend", "none"], capture_output=True, text=True)
    assert result.returncode == 4 and "libdeuteron_llvm.so is not installed" in result.stderr, result.stderr
    assert "float32 (3, 4)" in run(command, "run", artefact)
    assert "libdeuteron_llvm.so is not installed" in run(command, "--version")
    library.write_bytes((prefix / "lib/libdeuteron_dnnl.so").read_bytes() if (prefix / "lib/libdeuteron_dnnl.so").exists() else b"")
    result = subprocess.run([command, "run", model, "--cache", "off", "--backend", "none"], capture_output=True, text=True)
    assert result.returncode == 4 and "libdeuteron_llvm.so" in result.stderr, result.stderr
    elsewhere.rename(library)
    assert "float32 (3, 4)" in run(command, "run", model, "--cache", cache)


def check_search_paths(*folders):
    """No empty entry: the loader takes the working folder for it."""
    for file in [file for folder in folders for file in sorted(folder.iterdir()) if file.is_file() and not file.is_symlink()]:
        tags = subprocess.run(["readelf", "-d", file], capture_output=True, text=True).stdout
        for paths in re.findall(r"\((?:RPATH|RUNPATH)\).*\[(.*)\]", tags):
            assert "" not in paths.split(":"), (file, paths)


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    work = pathlib.Path(tempfile.mkdtemp(prefix="deuteron-install-"))
    try:
        run("cmake", "--install", build, "--prefix", work / "first")
        (work / "first").rename(work / "moved")
        run("cmake", "-G", "Ninja", "-S", ROOT / "examples/embed", "-B", work / "build", f"-DCMAKE_PREFIX_PATH={work / 'moved'}")
        run("cmake", "--build", work / "build")
        write_model(work / "model.onnx")
        compiled = run(work / "build/embed", work / "model.onnx", work / "model.so")
        deployed = run(work / "build/deployed", work / "model.so")
        assert compiled == deployed, f"the compiler printed {compiled!r}, the runtime alone {deployed!r}"
        printed = run(work / "build/c_embed", work / "model.onnx", work / "c.so", stderr=subprocess.DEVNULL)
        value = printed.split()[-1]
        assert printed == f"x -> z: {value} {value}\n", printed
        for program, foreign in {
            "embed": ["libLLVM", "libdeuteron_llvm.so"],
            "deployed": ["libLLVM", "libdeuteron.so"],
            "c_deployed": ["libLLVM", "libdeuteron.so"],
            "c_deployed_static": ["libLLVM", "libdeuteron.so", "libdeuteron_runtime.so"],
        }.items():
            if program.startswith("c_"):
                both = run(work / "build" / program, work / "c.so")
                assert both == f"{value}\n{value}\n", (program, both, value)
            linked = run("ldd", work / "build" / program)
            for library in (*foreign, str(build)):
                assert library not in linked, f"{program} needs {library}:\n{linked}"
        check_search_paths(build / "bin", build / "lib", work / "moved/bin", work / "moved/lib")
        # The command of the moved package works too, from anywhere and without help from the environment.
        printed = run(work / "moved/bin/deuteron", "run", work / "model.onnx", cwd="/")
        assert "float32 (3, 4)" in printed, printed
        check_plugins(work / "moved", work)
        check_generator(work / "moved", work)
        # Damaged artefacts are refused, with exit status 3 and the reason.
        data = (work / "model.so").read_bytes()
        for sixteenth in range(16):
            (work / "cut.so").write_bytes(data[: len(data) * sixteenth // 16])
            result = subprocess.run([work / "moved/bin/deuteron", "run", work / "cut.so"], capture_output=True, text=True)
            assert result.returncode == 3 and "cut.so" in result.stderr, (sixteenth, result.returncode, result.stderr)
        print("1 passed, 0 failed")
    finally:
        shutil.rmtree(work, ignore_errors=True)


if __name__ == "__main__":
    main()
