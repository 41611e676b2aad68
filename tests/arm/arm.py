"""Networks compiled for other CPUs than this one, 64-bit ARM under an emulator, compared with what this one computes.

    python tests/arm/arm.py [NETWORK...] [--cpu CPU]... [--size small|full] [--command DEUTERON]

The networks are those of tests/networks and the light ones of the onnx package. Each is compiled for every CPU, to be run often and once, run by
deuteron-run (for ARM that of the preset aarch64, under qemu with no more of an instruction set than that CPU has), and
compared with `deuteron run` of the same inputs: |difference| <= 1e-4 x max |reference|, since sums are added in another
order; of networks of bytes three steps of 128. One runs with larger pages, too, and one is compiled on lesser CPUs than this one. What is meant for a CPU is refused by one that lacks
its features. Ends with status 1 if anything differs.
"""

import argparse
import itertools
import logging
import pathlib
import shlex
import subprocess
import sys
import tempfile
import time

import numpy as np
import onnx

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT / "tests/networks"), str(ROOT / "tests/onnx")]
import light  # noqa: E402
import make  # noqa: E402
import quantized  # noqa: E402

TOLERANCE = 1e-4
# Networks of bytes, as tests/onnx/quantized.py makes and judges them: network, format, activations, scales by channel.
QUANTISED = {
    "mobilenetv2-qdq": ("mobilenetv2", "QDQ", "QInt8", True),
    "resnet50-qdq": ("resnet50", "QDQ", "QUInt8", True),
}
# What qemu calls the CPU that stands for one of ours: none has more than that.
EMULATED = {cpu: cpu for cpu in ("cortex-a53", "cortex-a72", "cortex-a76", "neoverse-n1")}
# Levels that this machine has, too.
NATIVE = ("x86-64", "x86-64-v2", "x86-64-v3")
# Without AVX, without AVX2, without AVX-512, as qemu calls them.
HOSTS = ("Nehalem", "SandyBridge", "Haswell")
NETWORKS = ["mobilenetv2", "bert", "decoder", *QUANTISED, *light.NAMES]


def runner(cpu):
    if cpu in NATIVE:
        return [ROOT / "build/release/bin/deuteron-run"]
    return ["qemu-aarch64-static", "-cpu", EMULATED[cpu], "-L", "/usr/aarch64-linux-gnu", ROOT / "build/aarch64/bin/deuteron-run"]


def run(*command):
    result = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    if result.returncode != 0:
        raise RuntimeError(f"{shlex.join(map(str, command))}\nstatus {result.returncode}: {result.stderr}")
    return result.stdout


def random_inputs(path, folder):
    """Flags --input with random numbers for each input of the model, which has fixed shapes."""
    model = onnx.load(path, load_external_data=False)
    weights = {tensor.name for tensor in model.graph.initializer}
    random = np.random.default_rng(1)
    flags = []
    for index, value in enumerate(value for value in model.graph.input if value.name not in weights):
        shape = [dim.dim_value or 1 for dim in value.type.tensor_type.shape.dim]
        dtype = onnx.helper.tensor_dtype_to_np_dtype(value.type.tensor_type.elem_type)
        array = random.standard_normal(shape) if dtype.kind == "f" else random.integers(0, 2, shape)
        np.save(folder / f"{index}.npy", array.astype(dtype))
        flags += ["--input", f"{value.name}={folder / f'{index}.npy'}"]
    return flags


def difference(folder, reference):
    """The largest |difference| over the largest |reference| of all outputs."""
    worst = 0.0
    for path in sorted(reference.glob("*.npy")):
        expected, actual = np.load(path).astype(np.float64), np.load(folder / path.name).astype(np.float64)
        assert expected.shape == actual.shape, (path.name, expected.shape, actual.shape)
        assert np.isfinite(expected).all() and expected.any(), f"{path.name}: the reference says nothing"
        scale = max(np.abs(expected).max(initial=0), 1e-30)
        worst = max(worst, float(np.abs(actual - expected).max(initial=0) / scale) if np.isfinite(actual).all() else np.inf)
    return worst


def check_network(name, arguments, work):
    model, wrong = work / f"{name}.onnx", 0
    tolerance = quantized.TOLERANCE if name in QUANTISED else TOLERANCE
    if name in QUANTISED:
        model = quantized.quantize(*QUANTISED[name], work)
    else:
        run(sys.executable, ROOT / "tests/networks/make.py", "--size", arguments.size, name, model)
    flags = random_inputs(model, work)
    run(arguments.command, "run", model, "--backend", "none", "--cache", "off", *flags, "--output-dir", work / "here")
    for cpu, runs in itertools.product(arguments.cpu, (0, 1)):
        artefact, results = work / "model.so", work / f"{cpu}-{runs}"
        run(arguments.command, "compile", model, "--target", cpu, "--config", f"expected_runs={runs}", "-o", artefact)
        begin = time.monotonic()
        try:
            run(*runner(cpu), artefact, *flags, "--output-dir", results, "--threads", "2")
            far = difference(results, work / "here")
        except (RuntimeError, AssertionError) as error:
            print(error)
            far = np.inf
        wrong += not far <= tolerance
        verdict = "" if far <= tolerance else "   WRONG"
        often = "once" if runs else "often"
        print(f"{name:32} {cpu:14} {often:6} {far:10.1e} {time.monotonic() - begin:8.1f} s{verdict}", flush=True)
    return wrong


def check_refusals(arguments, work):
    """An artefact for another architecture, and for a better CPU, is refused by name; of several the best that runs is taken."""
    model, wrong = work / "refused.onnx", 0
    run(sys.executable, ROOT / "tests/networks/make.py", "--size", "small", "squeezenet", model)
    flags = random_inputs(model, work)
    for target, cpu, status, expected in [
        ("x86-64-v3", "cortex-a72", 4, "was compiled for x86-64, and this processor is aarch64"),
        ("neoverse-n1", "cortex-a72", 4, "was compiled for a processor with dotprod, fullfp16, which this one lacks"),
        ("x86-64-v3,neoverse-n1", "cortex-a72", 4, "was compiled for x86-64, and this processor is aarch64; for a processor with dotprod"),
        ("x86-64-v3,cortex-a72,neoverse-n1", "cortex-a72", 0, ""),
        ("x86-64-v3,cortex-a72,neoverse-n1", "neoverse-n1", 0, ""),
        ("x86-64-v3,cortex-a72,neoverse-n1", "x86-64-v3", 0, ""),
        ("cortex-a72", "x86-64-v3", 4, "was compiled for aarch64, and this processor is x86-64"),
    ]:
        artefact = work / "refused.so"
        run(arguments.command, "compile", model, "--target", target, "-o", artefact)
        result = subprocess.run([*runner(cpu), artefact, *flags], capture_output=True, text=True)
        right = result.returncode == status and expected in result.stderr
        print(f"{target:32} {cpu:14} {'refused' if status else 'runs':>10}{'' if right else f'   WRONG: {result.returncode} {result.stderr}'}", flush=True)
        wrong += not right
    return wrong


def check_page_sizes(arguments, work):
    """Boards have pages of 4, 16 and 64 KiB."""
    model, wrong = work / "pages.onnx", 0
    run(sys.executable, ROOT / "tests/networks/make.py", "--size", "small", "mobilenetv2", model)
    flags = random_inputs(model, work)
    run(arguments.command, "run", model, "--backend", "none", "--cache", "off", *flags, "--output-dir", work / "here")
    run(arguments.command, "compile", model, "--target", "cortex-a72", "-o", work / "pages.so")
    for page in (4, 16, 64):
        emulator, *rest = runner("cortex-a72")
        run(emulator, "-p", page << 10, *rest, work / "pages.so", *flags, "--output-dir", work / "there")
        far = difference(work / "there", work / "here")
        wrong += not far <= TOLERANCE
        print(f"{f'pages of {page} KiB':32} {'cortex-a72':14} {far:10.1e}{'' if far <= TOLERANCE else '   WRONG'}", flush=True)
    return wrong


def check_lesser_hosts(arguments, work):
    """CPUs that have less than this one, and than /proc/cpuinfo says there: `native` is what the CPU itself says."""
    model, wrong = work / "hosts.onnx", 0
    run(sys.executable, ROOT / "tests/networks/make.py", "--size", "small", "mobilenetv2", model)
    flags = random_inputs(model, work)
    flags = ["run", model, "--backend", "none", "--cache", "off", *flags, "--output-dir"]
    run(arguments.command, *flags, work / "host")
    for cpu in HOSTS:
        run("qemu-x86_64-static", "-cpu", cpu, arguments.command, *flags, work / cpu)
        far = difference(work / cpu, work / "host")
        wrong += not far <= TOLERANCE
        print(f"{'compiled there':32} {cpu:14} {far:10.1e}{'' if far <= TOLERANCE else '   WRONG'}", flush=True)
    return wrong


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*")
    parser.add_argument("--cpu", action="append", choices=[*EMULATED, *NATIVE])
    parser.add_argument("--size", choices=("small", "full"), default="small", help="of the networks that have sizes; light ones are full")
    parser.add_argument("--command", default=ROOT / "build/release/bin/deuteron")
    arguments = parser.parse_args()
    arguments.cpu = arguments.cpu or ["cortex-a72", "neoverse-n1", "x86-64-v2", "x86-64-v3"]
    # The quantiser's advice.
    logging.disable(logging.WARNING)
    wrong = 0
    with tempfile.TemporaryDirectory(prefix="deuteron-arm-") as folder:
        print(f"{'network':32} {'CPU':14} {'runs':6} {'difference':>10} {'run':>10}")
        for name in arguments.names or NETWORKS:
            assert name in make.NETWORKS or name in light.NAMES or name in QUANTISED, f"unknown network {name}"
            (pathlib.Path(folder) / name).mkdir()
            wrong += check_network(name, arguments, pathlib.Path(folder) / name)
        if not arguments.names:
            wrong += check_refusals(arguments, pathlib.Path(folder))
            wrong += check_page_sizes(arguments, pathlib.Path(folder))
            wrong += check_lesser_hosts(arguments, pathlib.Path(folder))
    print(f"{wrong} wrong")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
