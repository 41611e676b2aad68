# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

k = TypeVar("k")
n = TypeVar("n")
@I.ir_module
class Module:
    @R.function
    def conv(x: R.Tensor((1, 3, 8, 8), dtype="float32"), w: R.Tensor((4, 3, 3, 3), dtype="float32")) -> R.Tensor((1, 4, 8, 8), dtype="float32"):
        y: R.Tensor((1, 4, 8, 8), dtype="float32") = R.nn.conv2d(x, w, strides=[1, 1], padding=[1, 1, 1, 1], dilation=[1, 1], groups=1, data_layout="NCHW", kernel_layout="OIHW", out_layout="NCHW", out_dtype=None)
        z: R.Tensor((8, 8, 4, 1), dtype="float32") = R.permute_dims(y, axes=None)
        a: R.Tensor((1, 1, 8, 8), dtype="float32") = R.mean(y, axis=[1], keepdims=True)
        b: R.Tensor((1, 1, 8, 8), dtype="float16") = R.astype(a, dtype="float16")
        c: R.Tensor((1, 4, 7, 7), dtype="float32") = R.nn.max_pool2d(y, pool_size=[2, 2], strides=[1, 1], dilation=[1, 1], padding=[0, 0, 0, 0], ceil_mode=False, count_include_pad=False, layout="NCHW", out_layout="NCHW")
        d: R.Tuple(R.Tensor((1, 2, 8, 8), dtype="float32"), R.Tensor((1, 2, 8, 8), dtype="float32")) = R.split(y, indices_or_sections=2, axis=1)
        f: R.Tensor((1, 256), dtype="float32") = R.reshape(y, R.shape([1, 256]))
        g: R.Tensor((1, 8, 8, 4), dtype="float32") = R.layout_transform(y, index_map=T.index_map(lambda a_1, b_1, c_1, d_1: (a_1, c_1, d_1, b_1)), pad_value=None)
        h: R.Tensor((1, 4, 8, 8), dtype="float32") = R.nn.attention(y, y, y, scale=None, causal_mask=None, window_size=None)
        gv9: R.Tensor((256, 1), dtype="float32") = R.permute_dims(f, axes=None)
        j: R.Tensor((1, 1), dtype="float32") = R.matmul(f, gv9, out_dtype=None)
        k: R.Tensor((10,), dtype="int64") = R.arange(0, 10, 1, dtype="int64")
        l: R.Tensor((1, 1, 1, 8, 8), dtype="float32") = R.expand_dims(a, axis=[0])
        n: R.Tensor((1, 3, 16, 16), dtype="float32") = R.image.resize2d(x, R.shape([16, 16]), roi=[T.float32(0.0), T.float32(0.0), T.float32(0.0), T.float32(0.0)], layout="NCHW", method="linear", coordinate_transformation_mode="half_pixel", rounding_method="round", cubic_alpha=-0.75, cubic_exclude=0, extrapolation_value=0.0, out_dtype=None)
        o: R.Tensor((2, 3), dtype="float32") = R.zeros(R.shape([2, 3]), dtype="float32")
        p: R.Tensor((1, 3, 10, 10), dtype="float32") = R.nn.pad(x, pad_width=[0, 0, 0, 0, 1, 1, 1, 1], pad_value=0.0, pad_mode="constant")
        q: R.Tensor((1, 3, 8, 8), dtype="float32") = R.clip(x, 0, 6)
        r: R.Tensor((1, 3, 8, 8), dtype="float32") = R.broadcast_to(x, R.shape([1, 3, 8, 8]))
        s: R.Tensor((1, 3, 8, 8), dtype="float32") = R.cumsum(x, axis=1, dtype=None, exclusive=False)
        t: R.Tuple(R.Tensor((1, 3, 8, 2), dtype="float32"), R.Tensor((1, 3, 8, 2), dtype="int32")) = R.topk(x, k=2, axis=-1, ret_type="both", largest=True, dtype="int32")
        R.print(x, format=R.str("{}"))
        return y

    @R.function
    def main(x: R.Tensor((n, 4), dtype="float32"), y: R.Tensor((n, 4), dtype="float32"), m: R.Shape([k])) -> R.Tensor(("n * 2 - 1", 4), dtype="float32"):
        with R.dataflow():
            lv: R.Tensor((n, 4), dtype="float32") = R.add(x, y)
            lv1: R.Tensor((n + k, 4), dtype="float32") = R.full(R.shape([n + k, 4]), R.const(3.0, "float32"), dtype="float32")
            lv2: R.Tensor((n, 4), dtype="float32") = R.nn.relu(lv)
            lv3: R.Tensor((n, 4), dtype="float32") = R.nn.softmax(lv2, axis=-1)
            lv4: R.Tensor((n + k + n, 4), dtype="float32") = R.concat((lv1, lv3), axis=0)
            lv5: R.Tensor((T.min(T.max(T.if_then_else(n < 1, n * 4 + k - 1, n * 2 - 1), 0), n * 2 + k), 4), dtype="float32") = R.strided_slice(lv4, (0,), (0,), (n * 2 - 1,), assume_inbound=False)
            R.output(lv5)
        return lv5
