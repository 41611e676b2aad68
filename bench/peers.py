"""What `./dev bench` measures beside: the median milliseconds of a run of an ONNX model in ONNX Runtime, OpenVINO and XLA, each on THREADS threads."""

import statistics
import time

import numpy as np
import onnx
import onnxruntime
from onnx import helper, numpy_helper

THREADS = 2
SECONDS = 0.5


def _median_ms(run):
    run()
    times = []
    end = time.perf_counter() + SECONDS
    while len(times) < 3 or time.perf_counter() < end:
        begin = time.perf_counter()
        run()
        times.append((time.perf_counter() - begin) * 1e3)
    return statistics.median(times)


def _value(shape, integer):
    random = np.random.default_rng(0)
    return random.integers(0, 100, shape) if integer else random.standard_normal(shape).astype(np.float32)


def bench_onnxruntime(model):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = THREADS
    session = onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
    shapes = {value.name: [d if isinstance(d, int) else 1 for d in value.shape] for value in session.get_inputs()}
    feed = {value.name: _value(shapes[value.name], value.type == "tensor(int64)") for value in session.get_inputs()}
    return _median_ms(lambda: session.run(None, feed))


def bench_openvino(model):
    import openvino  # bench/requirements.txt

    # As precise as the others: where the processor has bfloat16, OpenVINO would take that.
    properties = {"INFERENCE_NUM_THREADS": THREADS, "PERFORMANCE_HINT": "LATENCY", "INFERENCE_PRECISION_HINT": "f32"}
    compiled = openvino.Core().compile_model(str(model), "CPU", properties)
    request = compiled.create_infer_request()
    feed = {value.any_name: _value(value.shape, value.element_type.get_type_name().startswith("i")) for value in compiled.inputs}
    return _median_ms(lambda: request.infer(feed))


def _xla_operators():
    import jax
    import jax.numpy as jnp

    def layer_norm(x, scale, bias, axis, epsilon=1e-5):
        mean = x.mean(axis, keepdims=True)
        return (x - mean) * jax.lax.rsqrt(((x - mean) ** 2).mean(axis, keepdims=True) + epsilon) * scale + bias

    def conv(x, w, group, pads, kernel_shape):
        before, after = pads[: len(pads) // 2], pads[len(pads) // 2 :]
        return jax.lax.conv_general_dilated(x, w, (1,) * len(kernel_shape), list(zip(before, after)), feature_group_count=group)

    return {
        "Add": jnp.add,
        "Sub": jnp.subtract,
        "Mul": jnp.multiply,
        "Div": jnp.divide,
        "MatMul": jnp.matmul,
        "Relu": jax.nn.relu,
        "Tanh": jnp.tanh,
        "Sigmoid": jax.nn.sigmoid,
        "Erf": jax.scipy.special.erf,
        "Softmax": lambda x, axis: jax.nn.softmax(x, axis),
        "LayerNormalization": layer_norm,
        "Split": lambda x, axis: jnp.split(x, 4, axis),
        "Conv": conv,
    }


def bench_xla(model):
    """Only the operators of the small networks (networks.py); a Split is into four."""
    import jax  # bench/requirements.txt

    jax.config.update("jax_platforms", "cpu")
    operators = _xla_operators()
    graph = onnx.load(model).graph
    weights = {w.name: numpy_helper.to_array(w) for w in graph.initializer}

    def network(feed):
        values = dict(weights) | feed
        for node in graph.node:
            attributes = {a.name: helper.get_attribute_value(a) for a in node.attribute}
            results = operators[node.op_type](*(values[name] for name in node.input), **attributes)
            values |= zip(node.output, results if len(node.output) > 1 else [results])
        return [values[value.name] for value in graph.output]

    feed = {value.name: jax.device_put(_value([d.dim_value for d in value.type.tensor_type.shape.dim], False)) for value in graph.input}
    compiled = jax.jit(network).lower(feed).compile()
    return _median_ms(lambda: jax.block_until_ready(compiled(feed)))
