"""Figures beside peers, measured alternately in one run: what `./dev bench` prints and BENCHMARKS.md records.

    python bench/bench.py [fusion] [kernels] [networks] [libraries] [small] [exported] [products] [convolutions] [fusion-table] [patterns] [script] [scale]

Without a name all but `exported`, which wants the zoo's environment. Times are medians of rounds in which the candidates take turns; what counts are the ratios, never a time.
"""

import json
import os
import pathlib
import statistics
import subprocess
import sys

import onnx
from networks import Builder, chain, conv_blocks, lstm, matmul, row_chain
from onnx import helper
from peers import THREADS, bench_onnxruntime, bench_openvino, bench_xla

ROOT = pathlib.Path(__file__).resolve().parent.parent
BIN = ROOT / "build" / "release" / "bin"
WORK = ROOT / "build" / "bench"
ROUNDS = 3
LIBRARY_ROUNDS = 7  # ratios of a few hundredths are what that table is about


def bench(model, *flags, seconds=0.5):
    command = [BIN / "deuteron", "bench", model, "--seconds", seconds, "--json", "--threads", THREADS, *flags]
    return json.loads(subprocess.run(list(map(str, command)), check=True, capture_output=True, text=True).stdout)


def turns(model, *candidates, rounds=ROUNDS):
    """Per candidate, its milliseconds in each of the rounds."""
    return list(zip(*([candidate(model) for candidate in candidates] for _ in range(rounds))))


def take_turns(model, *candidates):
    return [statistics.median(column) for column in turns(model, *candidates)]


def ratio(column, other):
    """The median of the rounds' ratios: what a change of the machine's speed between two rounds does not move."""
    return statistics.median(a / b for a, b in zip(column, other))


# What generated code is worth: a library would hide it.
def fused(model):
    return bench(model, "--backend", "none")["median_ms"]


def unfused(model):
    return bench(model, "--no-fuse")["median_ms"]


def bench_fusion():
    cases = [
        ("depthwise conv+bn+relu 512x14x14 3x3", conv_blocks(WORK / "dw.onnx", 512, 14, 3, 512), 1.5),
        ("LSTM cell, hidden 128, 16 steps", lstm(WORK / "lstm.onnx"), 1.5),
        ("20 elementwise/broadcast ops 1024x4096", chain(WORK / "chain.onnx"), 3.0),
        ("conv+bn+relu 128x28x28 1x1", conv_blocks(WORK / "conv1x1.onnx", 128, 28, 1, 1), 1.1),
    ]
    print(f"{'what fusion is worth':42}{'fused':>9}{'unfused':>9}{'ratio':>7}{'wanted':>7}{'ONNX RT':>9}{'ratio':>7}")
    for name, model, wanted in cases:
        ours, plain, peer = take_turns(model, fused, unfused, bench_onnxruntime)
        print(f"{name:42}{ours:>9.3f}{plain:>9.3f}{plain / ours:>7.2f}{wanted:>7.1f}{peer:>9.3f}{peer / ours:>7.2f}")


def measure_peak():
    return json.loads(subprocess.run([BIN / "peak", str(THREADS)], check=True, capture_output=True, text=True).stdout)


def bench_kernels():
    cases = []
    for channels, size in [(64, 56), (128, 28), (256, 14), (512, 7)]:
        model = conv_blocks(WORK / f"conv3x3_{channels}.onnx", channels, size, 3, 1, bn=False)
        cases.append((f"conv 3x3 {channels}x{size}x{size}", model, 2 * 9 * channels**2 * size**2))
    for m, k, n in [(128, 768, 768), (128, 768, 3072), (128, 3072, 768)]:
        cases.append((f"matmul {m}x{k}x{n}", matmul(WORK / f"matmul_{k}_{n}.onnx", m, k, n), 2 * m * k * n))
    rows, peaks = [], [measure_peak()]
    for name, model, flops in cases:
        ours, peer = take_turns(model, fused, bench_onnxruntime)
        rows.append((name, flops / ours / 1e6, flops / peer / 1e6))
        peaks.append(measure_peak())
    # The machine changes its speed; the kernels are medians, and so is what they are compared with.
    gflops, gbps = (statistics.median(peak[key] for peak in peaks) for key in ("gflops", "gbps"))
    print(f"peak of this machine, {THREADS} threads: {gflops:.0f} GFLOP/s float32, memory {gbps:.1f} GB/s")
    print(f"{'kernel':42}{'GFLOP/s':>9}{'share':>7}{'wanted':>7}{'ONNX RT':>9}")
    for name, rate, peer in rows:
        print(f"{name:42}{rate:>9.0f}{rate / gflops:>7.0%}{'40%':>7}{peer:>9.0f}")


def bench_networks():
    names = ["resnet50", "mobilenetv2", "bert"]
    print(f"{'network (full size, batch 1)':42}{'kernels':>9}{'compile':>9}{'fused':>9}{'unfused':>9}{'ONNX RT':>9}{'ratio':>7}")
    for name in names:
        model = full_size(name)
        first = bench(model, "--backend", "none")
        ours, plain, peer = take_turns(model, fused, unfused, bench_onnxruntime)
        print(f"{name:42}{first['kernels']:>9}{first['compile_ms'] / 1e3:>8.1f}s{ours:>9.2f}{plain:>9.2f}{peer:>9.2f}{peer / ours:>7.2f}")


def full_size(name):
    model = WORK / f"{name}.onnx"
    if not model.exists():
        subprocess.run([sys.executable, ROOT / "tests/networks/make.py", name, model, "--size", "full"], check=True)
    return model


def small_networks():
    return {
        "elementwise chain": chain(WORK / "chain_tanh.onnx", last="Tanh"),
        "row chain": row_chain(WORK / "row_chain.onnx"),
        "8 x conv 1x1": conv_blocks(WORK / "conv1x1_8.onnx", 128, 28, 1, 1, count=8),
        "8 x depthwise": conv_blocks(WORK / "dw_8.onnx", 512, 14, 3, 512, count=8),
        "lstm cell": lstm(WORK / "lstm.onnx"),
    }


def bench_libraries(models=None, small=None):
    """Generated code, oneDNN, and what `auto` makes of it, each compiled once, then run in turn with the peers; XLA beside `small` networks."""
    models = {name: full_size(name) for name in ["resnet50", "mobilenetv2", "bert", "vit", "densenet121", "inceptionv1"]} if models is None else models
    small = small or {}
    titles = ["none", "dnnl", "auto", "chosen", "ONNX RT", "OpenVINO", "XLA", "auto/best", "dnnl/none", "peer/auto"]
    print(f"{'network (full size, batch 1)':26}" + "".join(f"{title:>10}" for title in titles))
    over_peers, over_library = [], []
    for name, model in (models | small).items():
        artefacts = {}
        for backend in ["none", "dnnl", "auto"]:
            artefacts[backend] = WORK / f"{name}-{backend}.so"
            command = [BIN / "deuteron", "compile", model, "-o", artefacts[backend], "--backend", backend, "--threads", THREADS]
            subprocess.run(list(map(str, command)), check=True, capture_output=True)
        chosen = bench(artefacts["auto"])["backend"]
        candidates = [lambda _, path=path: bench(path)["median_ms"] for path in artefacts.values()]
        libraries = [bench_onnxruntime, bench_openvino] + [bench_xla] * (name in small)
        os.sync()  # what was written shall not be on its way to the disk meanwhile
        columns = turns(model, *candidates, *libraries, rounds=LIBRARY_ROUNDS)
        for path in artefacts.values():
            path.unlink()
        none, dnnl, auto, *peers = columns
        best = min(none, dnnl, key=statistics.median)
        peer = min(peers, key=statistics.median)
        over_peers.append(ratio(peer, auto))
        over_library.append(ratio(dnnl, none))
        cells = [f"{statistics.median(column):.{2 if name in models else 3}f}" for column in columns] + ["-"] * (name in models)
        cells = [*cells[:3], chosen, *cells[3:], f"{ratio(auto, best):.2f}", f"{over_library[-1]:.2f}", f"{over_peers[-1]:.2f}"]
        print(f"{name:26}" + "".join(f"{cell:>10}" for cell in cells), flush=True)
    for title, ratios in [("generated code over oneDNN", over_library), ("auto over the best peer", over_peers)]:
        print(f"{title}: geometric mean {statistics.geometric_mean(ratios):.2f}, worst {min(ratios):.2f}")


def bench_small():
    bench_libraries({}, small_networks())


def bench_exported():
    """Those that torch exports, in the environment of the zoo (`./dev zoo` makes it), two of our own, and the small ones: twenty."""
    folder = WORK / "exported"
    subprocess.run([ROOT / "build/zoo/venv/bin/python", ROOT / "bench/export.py", folder], check=True, capture_output=True)
    exported = {path.stem: path for path in sorted(folder.glob("*.onnx"))}
    bench_libraries(exported | {name: full_size(name) for name in ["unet", "decoder"]}, small_networks())


def library_ratio(model, seconds=0.1):
    """oneDNN's time over that of generated code: above 1 ours is faster. The least of all rounds, as models are small: some machines halve their speed
    in the middle of a round, so where the library seems faster both are measured again, up to four times as often. Generated code is for the target
    in DEUTERON_BENCH_TARGET, if that is given: one with other caches."""
    target = ["--target", os.environ["DEUTERON_BENCH_TARGET"]] if "DEUTERON_BENCH_TARGET" in os.environ else []
    candidates = {"dnnl": ["--backend", "dnnl"], "none": ["--backend", "none", *target]}
    least = dict.fromkeys(candidates, float("inf"))
    for turn in range(4 * ROUNDS):
        for name, flags in candidates.items():
            least[name] = min(least[name], bench(model, *flags, seconds=seconds)["min_ms"])
        if turn + 1 >= ROUNDS and least["none"] <= least["dnnl"]:
            break
    return least["dnnl"] / least["none"]


def summary(name, ratios):
    worst = min(ratios, key=ratios.get)
    print(f"{name:30}{len(ratios):>7}{statistics.geometric_mean(ratios.values()):>10.2f}{ratios[worst]:>8.2f}  {worst}", flush=True)


def bench_products():
    """Products M × K × N with a constant weight: generated code beside oneDNN."""
    print(f"{'oneDNN over generated code':30}{'shapes':>7}{'geo. mean':>10}{'worst':>8}")
    ratios = {}
    sizes = [512, 768, 1000, 1024, 3072, 4096, 4097]
    for m in [1, 4, 16, 64, 128, 512, 1024]:
        of_rows = {f"{m}x{k}x{n}": library_ratio(matmul(WORK / "product.onnx", m, k, n)) for k in sizes for n in sizes}
        summary(f"products of {m} rows", of_rows)
        ratios |= of_rows
    summary("all products", ratios)


def convolutions(network):
    """Name → (shape of the data, shape of the weight, attributes) of the different convolutions of a network."""
    model = onnx.shape_inference.infer_shapes(onnx.load(full_size(network)))
    shapes = {value.name: [d.dim_value for d in value.type.tensor_type.shape.dim] for value in [*model.graph.value_info, *model.graph.input]}
    shapes |= {weight.name: list(weight.dims) for weight in model.graph.initializer}
    found = {}
    for node in model.graph.node:
        if node.op_type == "Conv" and node.input[0] in shapes:
            attributes = {a.name: helper.get_attribute_value(a) for a in node.attribute}
            data, weight = shapes[node.input[0]], shapes[node.input[1]]
            name = f"{'x'.join(map(str, data[1:]))} by {'x'.join(map(str, weight))} /{attributes.get('strides', [1])[0]}"
            found[name] = (data, weight, attributes)
    return found


def bench_convolutions():
    """The different convolutions of networks, each with a ReLU: generated code beside oneDNN."""
    print(f"{'oneDNN over generated code':30}{'shapes':>7}{'geo. mean':>10}{'worst':>8}")
    ratios = {}
    for network in ["resnet50", "mobilenetv2", "unet", "densenet121", "squeezenet"]:
        of_network = {}
        for name, (data, weight, attributes) in convolutions(network).items():
            if name not in ratios:
                b = Builder()
                y = b.node("Relu", b.node("Conv", "x", b.weight(*weight), b.weight(weight[0]), **attributes))
                of_network[name] = library_ratio(b.save(WORK / "convolution.onnx", [("x", data)], y, [None] * len(data)))
        summary(network, of_network)
        ratios |= of_network
    summary("all convolutions", ratios)


def bench_patterns():
    """Microseconds a binding that FuseOpsByPattern takes for 80 patterns."""
    subprocess.run([str(BIN / "patterns_bench")], check=True)


def bench_script():
    subprocess.run([str(BIN / "script_bench")], check=True)


SCALE_TVM = """
import sys, time, resource
import tvm
from tvm import relax
def build(count):
    x = relax.Var("x", relax.TensorType((64, 128), "float32"))
    bb = relax.BlockBuilder()
    with bb.function("main", [x]):
        with bb.dataflow():
            values = [x]
            for i in range(1, count):
                last, skip = values[-1], values[max(0, len(values) - 10)]
                values.append(bb.emit([lambda: relax.op.add(last, skip), lambda: relax.op.exp(last), lambda: relax.op.tanh(last),
                                       lambda: relax.op.nn.relu(last)][i % 4]()))
            out = bb.emit_output(relax.op.negative(values[-1]))
        bb.emit_func_output(out)
    return bb.get()
count = int(sys.argv[1])
build(50)
memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
begin = time.process_time()
module = build(count)
passes = [("canonical", relax.transform.CanonicalizeBindings()), ("legalize", relax.transform.LegalizeOps()),
          ("annotate", relax.transform.AnnotateTIROpPattern()), ("FuseOps", relax.transform.FuseOps(2)), ("FuseTIR", relax.transform.FuseTIR())]
times = [time.process_time()]
for _, p in passes:
    module = p(module)
    times.append(time.process_time())
row = [times[0] - begin] + [b - a for a, b in zip(times, times[1:])] + [times[-1] - times[1], times[-1] - begin]
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - memory
print(f"{'tvm chain':<10} {count:9} {'':8} {row[0] / count * 1e6:7.2f} " + " ".join(f"{t / count * 1e6:9.2f}" for t in row[1:-2])
      + f" {row[-2] / count * 1e6:8.2f} {row[-1] / count * 1e6:8.2f} {peak / count:7.2f}")
"""


def bench_scale():
    """Microseconds and peak KiB an operator up to FuseTIR; apache-tvm beside it at the sizes that it finishes in a minute."""
    subprocess.run([str(BIN / "scale_bench")], check=True)
    for count in (1000, 10000):
        subprocess.run([sys.executable, "-c", SCALE_TVM, str(count)], check=True)


def bench_fusion_table():
    subprocess.run([sys.executable, ROOT / "tests" / "fusion_test.py", BIN / "deuteron", "--table"], check=True)


def main():
    WORK.mkdir(parents=True, exist_ok=True)
    parts = {"fusion": bench_fusion, "kernels": bench_kernels, "networks": bench_networks, "libraries": bench_libraries, "small": bench_small,
             "products": bench_products, "convolutions": bench_convolutions,
             "fusion-table": bench_fusion_table, "patterns": bench_patterns, "script": bench_script, "scale": bench_scale}
    others = {"exported": bench_exported}
    for name in sys.argv[1:] or parts:
        (parts | others)[name]()
        print()


if __name__ == "__main__":
    main()
