"""Functions of single operators, for modules that TVM prints: each entry makes a call from parameters it declares.

`OPERATORS` maps a name to a list of parameter types and a function of those parameters (relax.Var each).
"""

from tvm import relax, tirx
from tvm.relax import op as R

F32 = "float32"


def tensor(*shape, dtype=F32):
    return relax.TensorType(list(shape), dtype)


def _i64(value):
    return tirx.IntImm("int64", value)


UNARY = ("abs acos acosh asin asinh atan atanh ceil cos cosh erf exp floor log negative round rsqrt sigmoid sign sin "
         "sinh sqrt square tan tanh trunc isfinite isinf isnan flatten").split()
BINARY = ("add subtract multiply divide floor_divide power maximum minimum equal not_equal less less_equal greater "
          "greater_equal mod floor_mod log_add_exp").split()
BITWISE = "bitwise_and bitwise_or bitwise_xor left_shift right_shift".split()
LOGICAL = "logical_and logical_or logical_xor".split()
REDUCTIONS = "sum mean max min prod std variance".split()
ACTIVATIONS = "relu relu6 gelu gelu_tanh silu selu softmax log_softmax softplus leakyrelu batch_flatten".split()

OPERATORS = {}
for _name in UNARY:
    OPERATORS[_name] = ([tensor(2, 3)], getattr(R, _name))
for _name in BINARY:
    OPERATORS[_name] = ([tensor(2, 3), tensor(1, 3)], getattr(R, _name))
for _name in BITWISE:
    OPERATORS[_name] = ([tensor(2, 3, dtype="int32"), tensor(2, 3, dtype="int32")], getattr(R, _name))
for _name in LOGICAL:
    OPERATORS[_name] = ([tensor(2, 3, dtype="bool"), tensor(3, dtype="bool")], getattr(R, _name))
for _name in REDUCTIONS:
    OPERATORS[_name] = ([tensor(2, 3, 4)], lambda x, op=getattr(R, _name): op(x, axis=[1, -1], keepdims=True))
    OPERATORS[_name + "_all"] = ([tensor(2, 3, 4)], getattr(R, _name))
for _name in ACTIVATIONS:
    OPERATORS["nn." + _name] = ([tensor(2, 3, 4)], getattr(R.nn, _name))

OPERATORS.update({
    "logical_not": ([tensor(2, dtype="bool")], R.logical_not),
    "bitwise_not": ([tensor(2, dtype="int32")], R.bitwise_not),
    "ewise_fma": ([tensor(2, 3)] * 3, R.ewise_fma),
    "where": ([tensor(2, 1, dtype="bool"), tensor(2, 3), tensor(1, 3)], R.where),
    "clip": ([tensor(2, 3)], lambda x: R.clip(x, 0, 6)),
    "astype": ([tensor(2, 3)], lambda x: R.astype(x, "float16")),
    "argmax": ([tensor(2, 3)], lambda x: R.argmax(x, axis=1)),
    "argmin": ([tensor(2, 3)], lambda x: R.argmin(x, keepdims=True)),
    "argsort": ([tensor(2, 3)], lambda x: R.argsort(x, axis=1, descending=True, dtype="int64")),
    "sort": ([tensor(2, 3)], lambda x: R.sort(x, axis=0)),
    "topk": ([tensor(2, 8)], lambda x: R.topk(x, k=3)),
    "cumsum": ([tensor(2, 3)], lambda x: R.cumsum(x, axis=1, dtype="float64")),
    "cumprod": ([tensor(2, 3)], lambda x: R.cumprod(x, axis=0, exclusive=True)),
    "median": ([tensor(2, 3)], lambda x: R.median(x, axis=[1])),
    "arange": ([], lambda: R.arange(0, 10, 2, "int32")),
    "arange_float": ([], lambda: R.arange(0, 1, tirx.FloatImm(F32, 0.1), F32)),
    "eye": ([], lambda: R.eye(3, 4, 1)),
    "eye_like": ([tensor(3, 3)], lambda x: R.eye_like(x, k=-1)),
    "full": ([], lambda: R.full((2, 3), relax.const(1.5, F32), F32)),
    "full_like": ([tensor(2, 3)], lambda x: R.full_like(x, relax.const(2, "int32"))),
    "ones": ([], lambda: R.ones((2, 3), "int8")),
    "zeros": ([], lambda: R.zeros((), F32)),
    "ones_like": ([tensor(2, 3)], lambda x: R.ones_like(x, "float16")),
    "zeros_like": ([tensor(2, 3)], R.zeros_like),
    "tril": ([tensor(3, 3)], lambda x: R.tril(x, 1)),
    "triu": ([tensor(3, 3)], R.triu),
    "one_hot": ([tensor(3, dtype="int32")], lambda x: R.one_hot(x, relax.const(1.0, F32), relax.const(0.0, F32), 5)),
    "hamming_window": ([], lambda: R.hamming_window(10, True, 0.54, 0.46, F32)),
    "broadcast_to": ([tensor(3, 1)], lambda x: R.broadcast_to(x, (2, 3, 4))),
    "concat": ([tensor(2, 3), tensor(2, 4)], lambda x, y: R.concat([x, y], axis=1)),
    "stack": ([tensor(2, 3), tensor(2, 3)], lambda x, y: R.stack([x, y], axis=1)),
    "expand_dims": ([tensor(2, 3)], lambda x: R.expand_dims(x, [0, -1])),
    "squeeze": ([tensor(1, 2, 1)], R.squeeze),
    "squeeze_axis": ([tensor(1, 2, 1)], lambda x: R.squeeze(x, [0])),
    "reshape": ([tensor(2, 3)], lambda x: R.reshape(x, (3, -1))),
    "permute_dims": ([tensor(2, 3, 4)], lambda x: R.permute_dims(x, [2, 0, 1])),
    "transpose": ([tensor(2, 3)], R.permute_dims),
    "split": ([tensor(2, 6)], lambda x: R.split(x, 3, axis=1)),
    "split_indices": ([tensor(2, 6)], lambda x: R.split(x, [1, 4], axis=-1)),
    "repeat": ([tensor(2, 3)], lambda x: R.repeat(x, 2, axis=0)),
    "tile": ([tensor(2, 3)], lambda x: R.tile(x, (2, 1, 3))),
    "flip": ([tensor(2, 3)], lambda x: R.flip(x, 1)),
    "layout_transform": ([tensor(8, 3)], lambda x: R.layout_transform(x, lambda a, b: (a // 4, b, a % 4))),
    "layout_transform_pad": ([tensor(7, 3)], lambda x: R.layout_transform(x, lambda a, b: (a // 4, b, a % 4), pad_value=0)),
    "collapse_sum_to": ([tensor(3, 2, 3)], lambda x: R.collapse_sum_to(x, (2, 1))),
    "collapse_sum_like": ([tensor(3, 2, 3), tensor(2, 3)], R.collapse_sum_like),
    "gather_elements": ([tensor(3, 3), tensor(3, 3, dtype="int64")], lambda x, i: R.gather_elements(x, i, axis=1)),
    "gather_nd": ([tensor(3, 3), tensor(3, 2, dtype="int64")], R.gather_nd),
    "scatter_elements": ([tensor(3, 3), tensor(2, 3, dtype="int64"), tensor(2, 3)], lambda x, i, u: R.scatter_elements(x, i, u, 0, "add")),
    "scatter_nd": ([tensor(8), tensor(4, 1, dtype="int64"), tensor(4)], lambda x, i, u: R.scatter_nd(x, i, u, "mul")),
    "slice_scatter": ([tensor(8), tensor(3)], lambda x, y: R.slice_scatter(x, y, 0, 6, 2, axis=0)),
    "index_tensor": ([tensor(3, 3), tensor(2, dtype="int64"), tensor(2, dtype="int64")], lambda x, i, j: R.index_tensor(x, [i, j])),
    "index_put": ([tensor(3, 3), tensor(2, dtype="int64"), tensor(2, dtype="int64"), tensor(2)], lambda x, i, j, v: R.index_put(x, (i, j), v, True)),
    "meshgrid": ([tensor(3), tensor(4)], lambda x, y: R.meshgrid([x, y], "ij")),
    "take": ([tensor(4, 3), tensor(2, dtype="int32")], lambda x, i: R.take(x, i, axis=0, mode="clip")),
    "take_scalar": ([tensor(4, 3)], lambda x: R.take(x, relax.const(1, "int64"), axis=1)),
    "strided_slice": ([tensor(8, 9)], lambda x: R.strided_slice(x, [0, 1], [0, -5], [8, 9], [2, 1])),
    "strided_slice_inbound": ([tensor(8, 9)], lambda x: R.strided_slice(x, [0], [1], [4], assume_inbound=True)),
    "dynamic_strided_slice": ([tensor(8, 9)] + [tensor(2, dtype="int64")] * 3, R.dynamic_strided_slice),
    "reverse_sequence": ([tensor(3, 4), tensor(3, dtype="int32")], R.reverse_sequence),
    "nonzero": ([tensor(3, 4)], R.nonzero),
    "unique": ([tensor(6)], R.unique),
    "bucketize": ([tensor(6), tensor(3)], lambda x, b: R.bucketize(x, b, out_int32=True, right=True)),
    "multinomial": ([tensor(2, 3), tensor(4, 1), tensor(4, 1, dtype="int64")], R.multinomial_from_uniform),
    "masked_fill": ([tensor(2, 3), tensor(2, 3, dtype="bool")], lambda x, m: R.masked_fill(x, m, relax.const(0, F32))),
    "matmul": ([tensor(2, 3, 4), tensor(4, 5)], R.matmul),
    "matmul_out_dtype": ([tensor(3, 4, dtype="float16"), tensor(4, 5, dtype="float16")], lambda x, y: R.matmul(x, y, out_dtype=F32)),
    "linear": ([tensor(3, 4), tensor(5, 4), tensor(5)], R.linear),
    "einsum": ([tensor(3, 4), tensor(4, 5)], lambda x, y: R.einsum([x, y], "ij,jk->ik")),
    "outer": ([tensor(3), tensor(4)], R.outer),
    "shape_of": ([tensor(3, 4)], R.shape_of),
    "shape_to_tensor": ([relax.ShapeType([3, 4])], R.shape_to_tensor),
    "tensor_to_shape": ([tensor(2, dtype="int64")], R.tensor_to_shape),
    "size": ([tensor(2, 3)], R.size),
    "quantize": ([tensor(2, 3), tensor(3), tensor(3, dtype="int8")], lambda x, s, z: R.quantize(x, s, z, axis=1)),
    "dequantize": ([tensor(2, 3, dtype="uint8"), tensor(), tensor(dtype="uint8")], lambda x, s, z: R.dequantize(x, s, z, out_dtype="float16")),
    "wrap_param": ([], lambda: R.wrap_param(relax.const(1.0, F32))),
    "nn.prelu": ([tensor(2, 3), tensor(3)], R.nn.prelu),
    "nn.dropout": ([tensor(2, 3)], lambda x: R.nn.dropout(x, 0.25)),
    "nn.conv1d": ([tensor(1, 4, 9), tensor(2, 4, 3)], lambda x, w: R.nn.conv1d(x, w, strides=2, padding=1)),
    "nn.conv2d": ([tensor(1, 4, 9, 9), tensor(2, 2, 3, 3)], lambda x, w: R.nn.conv2d(x, w, strides=(2, 1), padding=(1, 2), groups=2)),
    "nn.conv2d_nhwc": ([tensor(1, 9, 9, 4), tensor(2, 3, 3, 4)], lambda x, w: R.nn.conv2d(x, w, data_layout="NHWC", kernel_layout="OHWI", out_dtype="float32")),
    "nn.conv3d": ([tensor(1, 2, 5, 5, 5), tensor(2, 2, 3, 3, 3)], lambda x, w: R.nn.conv3d(x, w)),
    "nn.conv1d_transpose": ([tensor(1, 4, 9), tensor(4, 2, 3)], lambda x, w: R.nn.conv1d_transpose(x, w, strides=2, output_padding=1)),
    "nn.conv2d_transpose": ([tensor(1, 4, 9, 9), tensor(4, 2, 3, 3)], lambda x, w: R.nn.conv2d_transpose(x, w, strides=2)),
    "nn.conv3d_transpose": ([tensor(1, 4, 5, 5, 5), tensor(4, 2, 3, 3, 3)], lambda x, w: R.nn.conv3d_transpose(x, w)),
    "nn.max_pool1d": ([tensor(1, 2, 8)], lambda x: R.nn.max_pool1d(x, 2, 2)),
    "nn.max_pool2d": ([tensor(1, 2, 8, 8)], lambda x: R.nn.max_pool2d(x, (3, 3), (2, 2), (1, 1), ceil_mode=True)),
    "nn.max_pool3d": ([tensor(1, 2, 8, 8, 8)], lambda x: R.nn.max_pool3d(x, 2, 2)),
    "nn.avg_pool1d": ([tensor(1, 2, 8)], lambda x: R.nn.avg_pool1d(x, 2, 2)),
    "nn.avg_pool2d": ([tensor(1, 2, 8, 8)], lambda x: R.nn.avg_pool2d(x, 2, 2, count_include_pad=True)),
    "nn.avg_pool3d": ([tensor(1, 2, 8, 8, 8)], lambda x: R.nn.avg_pool3d(x, 2, 2)),
    "nn.adaptive_avg_pool1d": ([tensor(1, 2, 8)], lambda x: R.nn.adaptive_avg_pool1d(x, 4)),
    "nn.adaptive_avg_pool2d": ([tensor(1, 2, 8, 8)], R.nn.adaptive_avg_pool2d),
    "nn.adaptive_avg_pool3d": ([tensor(1, 2, 8, 8, 8)], lambda x: R.nn.adaptive_avg_pool3d(x, 2)),
    "nn.pad": ([tensor(2, 3)], lambda x: R.nn.pad(x, (1, 1, 2, 0), "reflect")),
    "nn.pad_constant": ([tensor(2, 3)], lambda x: R.nn.pad(x, (1, 1, 2, 0), pad_value=-1.5)),
    "nn.pixel_shuffle": ([tensor(1, 8, 3, 3)], lambda x: R.nn.pixel_shuffle(x, 2)),
    "nn.batch_norm": ([tensor(1, 3, 4, 4)] + [tensor(3)] * 4, lambda x, *p: R.nn.batch_norm(x, *p, axis=1)),
    "nn.layer_norm": ([tensor(2, 3, 4), tensor(4), tensor(4)], lambda x, g, b: R.nn.layer_norm(x, g, b, axes=[-1])),
    "nn.group_norm": ([tensor(2, 4, 5), tensor(4), tensor(4)], lambda x, g, b: R.nn.group_norm(x, g, b, 2, 1, [2])),
    "nn.instance_norm": ([tensor(2, 4, 5), tensor(4), tensor(4)], lambda x, g, b: R.nn.instance_norm(x, g, b, 1, [2])),
    "nn.rms_norm": ([tensor(2, 3, 4), tensor(4)], lambda x, w: R.nn.rms_norm(x, w, axes=[-1])),
    "nn.softmax_axis": ([tensor(2, 3, 4)], lambda x: R.nn.softmax(x, axis=1)),
    "nn.cross_entropy": ([tensor(2, 3), tensor(2, 3)], R.nn.cross_entropy_with_logits),
    "nn.nll_loss": ([tensor(2, 3), tensor(2, dtype="int64"), tensor(3)], lambda p, t, w: R.nn.nll_loss(p, t, w, "sum")),
    "nn.attention": ([tensor(1, 8, 2, 4)] * 3, lambda q, k, v: R.nn.attention(q, k, v, scale=tirx.FloatImm(F32, 0.5), causal_mask="TopLeft")),
    "nn.attention_bias": ([tensor(1, 8, 2, 4)] * 3 + [tensor(1, 2, 8, 8)], lambda q, k, v, b: R.nn.attention(q, k, v, b)),
    "image.resize2d": ([tensor(1, 3, 8, 8)], lambda x: R.image.resize2d(x, (16, 16), method="cubic")),
    "image.resize3d": ([tensor(1, 3, 4, 4, 4)], lambda x: R.image.resize3d(x, (8, 8, 8))),
    "image.affine_grid": ([tensor(1, 2, 3)], lambda x: R.image.affine_grid(x, (8, 8))),
    "image.grid_sample": ([tensor(1, 3, 8, 8), tensor(1, 2, 4, 4)], lambda x, g: R.image.grid_sample(x, g)),
    "roi_align": ([tensor(1, 3, 8, 8), tensor(2, 5)], lambda x, r: R.vision.roi_align(x, r, (3, 3), 0.5) if hasattr(R, "vision") else R.roi_align(x, r, (3, 3), 0.5)),
    "roi_pool": ([tensor(1, 3, 8, 8), tensor(2, 5)], lambda x, r: R.vision.roi_pool(x, r, (3, 3), 0.5)),
})


def function_of(builder, name, parameter_types, call):
    """Adds a function `name` of one call to a relax.BlockBuilder."""
    parameters = [relax.Var(f"p{i}", ty) for i, ty in enumerate(parameter_types)]
    with builder.function(name, parameters):
        with builder.dataflow():
            value = builder.emit(call(*parameters))
            output = builder.emit_output(value)
        builder.emit_func_output(output)


def operator_module(names):
    """A module with a function for each of the operators `names`; those that TVM itself refuses are left out."""
    builder = relax.BlockBuilder()
    for name in names:
        function_of(builder, "op_" + name.replace(".", "_"), *OPERATORS[name])
    return builder.get()
