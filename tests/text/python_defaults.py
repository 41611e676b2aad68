# run:
# Attributes that are not given are what Python's functions take then, None included; those without a name stand in the order of their
# parameters.
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 4, 8), "float32"), y: R.Tensor((1, 4, 8, 8), "float32"), z: R.Tensor((1, 4, 8, 8, 8), "float32"), i: R.Tensor((2, 4, 8), "int8"), s: R.Tensor((8,), "float32"), o: R.Tensor((8,), "int8"), v: R.Tensor((8,), "float32")):
        with R.dataflow():
            a = R.quantize(x, s, o)
            b = R.dequantize(i, s, o)
            c = R.quantize(x, s, o, 2, "uint8")
            d = R.stack((x, x))
            e = R.meshgrid((v, v))
            f = R.image.resize2d(y, (4, 4), roi=None)
            g = R.image.resize3d(z, (4, 4, 4))
            h = R.nn.avg_pool1d(x, 2, 2, 1)
            k = R.nn.avg_pool3d(z, (2, 2, 2))
            l = R.nn.rms_norm(x, v)
            m = R.nn.max_pool2d(y, (3, 3), (2, 2), (1, 1), (1, 1), True)
            n = R.nn.pad(y, (0, 0, 0, 0, 1, 1, 1, 1), "constant", 2.0)
            p = R.astype(x, dtype="float16")
            R.output(a, b, c, d, e, f, g, h, k, l, m, n, p)
        return (a, b, c, d, e, f, g, h, k, l, m, n, p)
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 4, 8), dtype="float32"), y: R.Tensor((1, 4, 8, 8), dtype="float32"), z: R.Tensor((1, 4, 8, 8, 8), dtype="float32"), i: R.Tensor((2, 4, 8), dtype="int8"), s: R.Tensor((8,), dtype="float32"), o: R.Tensor((8,), dtype="int8"), v: R.Tensor((8,), dtype="float32")) -> R.Tuple(R.Tensor((2, 4, 8), dtype="int8"), R.Tensor((2, 4, 8), dtype="float32"), R.Tensor((2, 4, 8), dtype="uint8"), R.Tensor((2, 2, 4, 8), dtype="float32"), R.Tuple(R.Tensor((8, 8), dtype="float32"), R.Tensor((8, 8), dtype="float32")), R.Tensor((1, 4, 4, 4), dtype="float32"), R.Tensor((1, 4, 4, 4, 4), dtype="float32"), R.Tensor((2, 4, 5), dtype="float32"), R.Tensor((1, 4, 7, 7, 7), dtype="float32"), R.Tensor((2, 4, 8), dtype="float32"), R.Tensor((1, 4, 5, 5), dtype="float32"), R.Tensor((1, 4, 10, 10), dtype="float32"), R.Tensor((2, 4, 8), dtype="float16")):
        with R.dataflow():
            a: R.Tensor((2, 4, 8), dtype="int8") = R.quantize(x, s, o, out_dtype="int8", axis=-1)
            b: R.Tensor((2, 4, 8), dtype="float32") = R.dequantize(i, s, o, out_dtype="float32", axis=-1)
            c: R.Tensor((2, 4, 8), dtype="uint8") = R.quantize(x, s, o, out_dtype="uint8", axis=2)
            d: R.Tensor((2, 2, 4, 8), dtype="float32") = R.stack((x, x), axis=0)
            e: R.Tuple(R.Tensor((8, 8), dtype="float32"), R.Tensor((8, 8), dtype="float32")) = R.meshgrid((v, v), indexing="ij")
            f: R.Tensor((1, 4, 4, 4), dtype="float32") = R.image.resize2d(y, R.shape([4, 4]), roi=[T.float32(0.0), T.float32(0.0), T.float32(0.0), T.float32(0.0)], layout="NCHW", method="linear", coordinate_transformation_mode="half_pixel", rounding_method="round", cubic_alpha=-0.75, cubic_exclude=0, extrapolation_value=0.0, out_dtype=None)
            g: R.Tensor((1, 4, 4, 4, 4), dtype="float32") = R.image.resize3d(z, R.shape([4, 4, 4]), roi=[T.float32(0.0), T.float32(0.0), T.float32(0.0), T.float32(0.0), T.float32(0.0), T.float32(0.0)], layout="NCDHW", method="linear", coordinate_transformation_mode="half_pixel", rounding_method="", cubic_alpha=-0.75, cubic_exclude=0, extrapolation_value=0.0, out_dtype=None)
            h: R.Tensor((2, 4, 5), dtype="float32") = R.nn.avg_pool1d(x, pool_size=[2], strides=[2], dilation=[1], padding=[1, 1], ceil_mode=False, count_include_pad=True, layout="NCW", out_layout="NCW")
            k: R.Tensor((1, 4, 7, 7, 7), dtype="float32") = R.nn.avg_pool3d(z, pool_size=[2, 2, 2], strides=[1, 1, 1], dilation=[1, 1, 1], padding=[0, 0, 0, 0, 0, 0], ceil_mode=False, count_include_pad=True, layout="NCDHW", out_layout="NCDHW")
            l: R.Tensor((2, 4, 8), dtype="float32") = R.nn.rms_norm(x, v, axes=[-1], epsilon=1e-05)
            m: R.Tensor((1, 4, 5, 5), dtype="float32") = R.nn.max_pool2d(y, pool_size=[3, 3], strides=[2, 2], dilation=[1, 1], padding=[1, 1, 1, 1], ceil_mode=True, count_include_pad=False, layout="NCHW", out_layout="NCHW")
            n: R.Tensor((1, 4, 10, 10), dtype="float32") = R.nn.pad(y, pad_width=[0, 0, 0, 0, 1, 1, 1, 1], pad_value=2.0, pad_mode="constant")
            p: R.Tensor((2, 4, 8), dtype="float16") = R.astype(x, dtype="float16")
            R.output(a, b, c, d, e, f, g, h, k, l, m, n, p)
        return (a, b, c, d, e, f, g, h, k, l, m, n, p)
