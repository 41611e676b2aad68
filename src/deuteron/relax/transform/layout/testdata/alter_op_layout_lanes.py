# run: AlterOpLayout(target="llvm -mcpu=x86-64-v3 -vector-bits=256")
# expect-remark: AlterOpLayout whole -> nn.conv2d: converted
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n", 20, 8, 8), "float32"), w0: R.Tensor((24, 20, 3, 3), "float32"), w1: R.Tensor((6, 20, 3, 3), "float32"), w2: R.Tensor((24, 10, 3, 3), "float32"), wide: R.Tensor(("n", 8, 8, 8), "float64"), w3: R.Tensor((8, 8, 1, 1), "float64")):
        n = T.int64()
        with R.dataflow():
            whole = R.nn.conv2d(x, w0)
            few = R.nn.conv2d(x, w1)
            grouped = R.nn.conv2d(x, w2, groups=2)
            double = R.nn.conv2d(wide, w3)
            gv = (whole, few, grouped, double)
            R.output(gv)
        return gv
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

n = TypeVar("n")
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((n, 20, 8, 8), dtype="float32"), w0: R.Tensor((24, 20, 3, 3), dtype="float32"), w1: R.Tensor((6, 20, 3, 3), dtype="float32"), w2: R.Tensor((24, 10, 3, 3), dtype="float32"), wide: R.Tensor((n, 8, 8, 8), dtype="float64"), w3: R.Tensor((8, 8, 1, 1), dtype="float64")) -> R.Tuple(R.Tensor((n, 24, 6, 6), dtype="float32"), R.Tensor((n, 6, 6, 6), dtype="float32"), R.Tensor((n, 24, 6, 6), dtype="float32"), R.Tensor((n, 8, 8, 8), dtype="float64")):
        with R.dataflow():
            lv: R.Tensor((n, 5, 8, 8, 4), dtype="float32") = R.layout_transform(x, index_map=T.index_map(lambda i0, i1, i2, i3: (i0, i1 // 4, i2, i3, i1 % 4)), pad_value=None)
            lv1: R.Tensor((3, 5, 3, 3, 4, 8), dtype="float32") = R.layout_transform(w0, index_map=T.index_map(lambda i0, i1, i2, i3: (i0 // 8, i1 // 4, i2, i3, i1 % 4, i0 % 8)), pad_value=None)
            whole: R.Tensor((n, 3, 6, 6, 8), dtype="float32") = R.nn.conv2d(lv, lv1, strides=[1, 1], padding=[0, 0, 0, 0], dilation=[1, 1], groups=1, data_layout="NCHW4c", kernel_layout="OIHW4i8o", out_layout="NCHW8c", out_dtype=None)
            few: R.Tensor((n, 6, 6, 6), dtype="float32") = R.nn.conv2d(x, w1, strides=[1, 1], padding=[0, 0, 0, 0], dilation=[1, 1], groups=1, data_layout="NCHW", kernel_layout="OIHW", out_layout="NCHW", out_dtype=None)
            grouped: R.Tensor((n, 24, 6, 6), dtype="float32") = R.nn.conv2d(x, w2, strides=[1, 1], padding=[0, 0, 0, 0], dilation=[1, 1], groups=2, data_layout="NCHW", kernel_layout="OIHW", out_layout="NCHW", out_dtype=None)
            lv2: R.Tensor((n, 2, 8, 8, 4), dtype="float64") = R.layout_transform(wide, index_map=T.index_map(lambda i0, i1, i2, i3: (i0, i1 // 4, i2, i3, i1 % 4)), pad_value=None)
            lv3: R.Tensor((2, 2, 1, 1, 4, 4), dtype="float64") = R.layout_transform(w3, index_map=T.index_map(lambda i0, i1, i2, i3: (i0 // 4, i1 // 4, i2, i3, i1 % 4, i0 % 4)), pad_value=None)
            double: R.Tensor((n, 2, 8, 8, 4), dtype="float64") = R.nn.conv2d(lv2, lv3, strides=[1, 1], padding=[0, 0, 0, 0], dilation=[1, 1], groups=1, data_layout="NCHW4c", kernel_layout="OIHW4i4o", out_layout="NCHW4c", out_dtype=None)
            lv4: R.Tensor((n, 24, 6, 6), dtype="float32") = R.layout_transform(whole, index_map=T.index_map(lambda i0, i1, i2, i3, i4: (i0, i1 * 8 + i4, i2, i3)), pad_value=None)
            lv5: R.Tensor((n, 8, 8, 8), dtype="float64") = R.layout_transform(double, index_map=T.index_map(lambda i0, i1, i2, i3, i4: (i0, i1 * 4 + i4, i2, i3)), pad_value=None)
            gv: R.Tuple(R.Tensor((n, 24, 6, 6), dtype="float32"), R.Tensor((n, 6, 6, 6), dtype="float32"), R.Tensor((n, 24, 6, 6), dtype="float32"), R.Tensor((n, 8, 8, 8), dtype="float64")) = lv4, few, grouped, lv5
            R.output(gv)
        return gv
