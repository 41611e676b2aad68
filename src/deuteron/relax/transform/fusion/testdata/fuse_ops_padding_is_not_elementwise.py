# run: FuseOps(fuse_opt_level=2)
# expect-remark: FuseOps c -> gv: complex-needs-elementwise
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def conv2d(x: T.Buffer((T.int64(1), T.int64(4), T.int64(8), T.int64(8)), "float32"), w: T.Buffer((T.int64(4), T.int64(4), T.int64(3), T.int64(3)), "float32"), conv2d_nchw: T.Buffer((T.int64(1), T.int64(4), T.int64(8), T.int64(8)), "float32")):
        T.func_attr({"op_pattern": 4})
        T.evaluate(0)

    @T.prim_func(private=True, s_tir=True)
    def pad(c: T.Buffer((T.int64(1), T.int64(4), T.int64(8), T.int64(8)), "float32"), PadInput: T.Buffer((T.int64(1), T.int64(4), T.int64(9), T.int64(9)), "float32")):
        T.func_attr({"op_pattern": 0})
        T.evaluate(0)

    @R.function
    def main(x: R.Tensor((1, 4, 8, 8), dtype="float32"), w: R.Tensor((4, 4, 3, 3), dtype="float32")) -> R.Tensor((1, 4, 9, 9), dtype="float32"):
        cls = Module
        with R.dataflow():
            c = R.call_tir(cls.conv2d, (x, w), out_ty=R.Tensor((1, 4, 8, 8), dtype="float32"))
            gv = R.call_tir(cls.pad, (c,), out_ty=R.Tensor((1, 4, 9, 9), dtype="float32"))
            R.output(gv)
        return gv
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def conv2d(x: T.Buffer((T.int64(1), T.int64(4), T.int64(8), T.int64(8)), "float32"), w: T.Buffer((T.int64(4), T.int64(4), T.int64(3), T.int64(3)), "float32"), conv2d_nchw: T.Buffer((T.int64(1), T.int64(4), T.int64(8), T.int64(8)), "float32")):
        T.func_attr({"op_pattern": 4})
        # with T.sblock("root"):
        T.evaluate(0)

    @T.prim_func(private=True, s_tir=True)
    def pad(c: T.Buffer((T.int64(1), T.int64(4), T.int64(8), T.int64(8)), "float32"), PadInput: T.Buffer((T.int64(1), T.int64(4), T.int64(9), T.int64(9)), "float32")):
        T.func_attr({"op_pattern": 0})
        # with T.sblock("root"):
        T.evaluate(0)

    @R.function
    def main(x: R.Tensor((1, 4, 8, 8), dtype="float32"), w: R.Tensor((4, 4, 3, 3), dtype="float32")) -> R.Tensor((1, 4, 9, 9), dtype="float32"):
        cls = Module
        with R.dataflow():
            c = R.call_tir(cls.conv2d, (x, w), out_ty=R.Tensor((1, 4, 8, 8), dtype="float32"))
            gv = R.call_tir(cls.pad, (c,), out_ty=R.Tensor((1, 4, 9, 9), dtype="float32"))
            R.output(gv)
        return gv
