# run: CombineMatmulsOfOneWeight
# target: llvm -mcpu=x86-64-v4 -threads=2
# expect-remark: CombineMatmulsOfOneWeight lv: combined
@I.ir_module
class Module:
    @R.function
    def unrolled(x: R.Tensor((2, 1, 8), "float32"), h0: R.Tensor((1, 8), "float32"), w: R.Tensor((8, 16), "float32"), r: R.Tensor((16, 8), "float32")):
        # The inputs of both steps meet w together; the state meets r step by step.
        with R.dataflow():
            x0 = R.strided_slice(x, axes=[0], begin=[0], end=[1])
            lv = R.matmul(x0, w)
            lv1 = R.matmul(h0, w)
            lv2 = R.add(lv, lv1)
            h1 = R.matmul(R.nn.relu(R.squeeze(lv2, axis=[0])), r)
            x1 = R.squeeze(R.strided_slice(x, axes=[0], begin=[1], end=[2]), axis=[0])
            lv4 = R.matmul(x1, w)
            lv5 = R.matmul(h1, w)
            lv6 = R.add(lv4, lv5)
            gv = R.matmul(lv6, r)
            R.output(gv)
        return gv

    @R.function
    def many_rows(a: R.Tensor((64, 8), "float32"), b: R.Tensor((64, 8), "float32"), w: R.Tensor((8, 16), "float32")):
        # Bound by arithmetic: left alone.
        with R.dataflow():
            lv = R.matmul(a, w)
            lv1 = R.matmul(b, w)
            gv = R.add(lv, lv1)
            R.output(gv)
        return gv

    @R.function
    def symbolic_rows(a: R.Tensor(("n", 8), "float32"), b: R.Tensor((1, 8), "float32"), w: R.Tensor((8, 16), "float32")):
        with R.dataflow():
            lv = R.matmul(a, w)
            lv1 = R.matmul(b, w)
            gv = R.add(lv, lv1)
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
    def many_rows(a: R.Tensor((64, 8), dtype="float32"), b: R.Tensor((64, 8), dtype="float32"), w: R.Tensor((8, 16), dtype="float32")) -> R.Tensor((64, 16), dtype="float32"):
        with R.dataflow():
            lv: R.Tensor((64, 16), dtype="float32") = R.matmul(a, w, out_dtype=None)
            lv1: R.Tensor((64, 16), dtype="float32") = R.matmul(b, w, out_dtype=None)
            gv: R.Tensor((64, 16), dtype="float32") = R.add(lv, lv1)
            R.output(gv)
        return gv

    @R.function
    def symbolic_rows(a: R.Tensor((n, 8), dtype="float32"), b: R.Tensor((1, 8), dtype="float32"), w: R.Tensor((8, 16), dtype="float32")) -> R.Tensor((n, 16), dtype="float32"):
        with R.dataflow():
            lv: R.Tensor((n, 16), dtype="float32") = R.matmul(a, w, out_dtype=None)
            lv1: R.Tensor((1, 16), dtype="float32") = R.matmul(b, w, out_dtype=None)
            gv: R.Tensor((n, 16), dtype="float32") = R.add(lv, lv1)
            R.output(gv)
        return gv

    @R.function
    def unrolled(x: R.Tensor((2, 1, 8), dtype="float32"), h0: R.Tensor((1, 8), dtype="float32"), w: R.Tensor((8, 16), dtype="float32"), r: R.Tensor((16, 8), dtype="float32")) -> R.Tensor((1, 8), dtype="float32"):
        with R.dataflow():
            x0: R.Tensor((1, 1, 8), dtype="float32") = R.strided_slice(x, (0,), (0,), (1,), assume_inbound=False)
            lv5: R.Tensor((1, 1, 8), dtype="float32") = R.strided_slice(x, (0,), (1,), (2,), assume_inbound=False)
            x1: R.Tensor((1, 8), dtype="float32") = R.squeeze(lv5, axis=[0])
            lv: R.Tensor((1, 8), dtype="float32") = R.reshape(x0, R.shape([1, 8]))
            lv1: R.Tensor((3, 8), dtype="float32") = R.concat((lv, h0, x1), axis=0)
            lv2: R.Tensor((3, 16), dtype="float32") = R.matmul(lv1, w, out_dtype=None)
            lv3: R.Tensor((1, 16), dtype="float32") = R.strided_slice(lv2, (0,), (0,), (1,), assume_inbound=False)
            lv_1: R.Tensor((1, 1, 16), dtype="float32") = R.reshape(lv3, R.shape([1, 1, 16]))
            lv1_1: R.Tensor((1, 16), dtype="float32") = R.strided_slice(lv2, (0,), (1,), (2,), assume_inbound=False)
            lv4: R.Tensor((1, 16), dtype="float32") = R.strided_slice(lv2, (0,), (2,), (3,), assume_inbound=False)
            lv2_1: R.Tensor((1, 1, 16), dtype="float32") = R.add(lv_1, lv1_1)
            lv3_1: R.Tensor((1, 16), dtype="float32") = R.squeeze(lv2_1, axis=[0])
            lv4_1: R.Tensor((1, 16), dtype="float32") = R.nn.relu(lv3_1)
            h1: R.Tensor((1, 8), dtype="float32") = R.matmul(lv4_1, r, out_dtype=None)
            lv5_1: R.Tensor((1, 16), dtype="float32") = R.matmul(h1, w, out_dtype=None)
            lv6: R.Tensor((1, 16), dtype="float32") = R.add(lv4, lv5_1)
            gv: R.Tensor((1, 8), dtype="float32") = R.matmul(lv6, r, out_dtype=None)
            R.output(gv)
        return gv
