# run: FuseTIR
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def double(x: T.Buffer((T.int64(4),), "float32"), y: T.Buffer((T.int64(4),), "float32")):
        for i in range(T.int64(4)):
            with T.sblock("y"):
                vi = T.axis.spatial(T.int64(4), i)
                y[vi] = x[vi] + x[vi]
    @T.prim_func(private=True, s_tir=True)
    def increase(x: T.Buffer((T.int64(4),), "float32")):
        for i in range(T.int64(4)):
            with T.sblock("x"):
                vi = T.axis.spatial(T.int64(4), i)
                x[vi] = x[vi] + T.float32(1)
    @R.function(private=True)
    def group(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        R.func_attr({"Primitive": True})
        cls = Module
        with R.dataflow():
            a = R.call_tir(cls.double, (x,), out_ty=R.Tensor((4,), "float32"))
            gv = R.call_tir_inplace(cls.increase, (a,), inplace_indices=[0], out_ty=R.Tensor((4,), "float32"))
            R.output(gv)
        return gv
    @R.function(pure=False)
    def main(x: R.Tensor((4,), "float32")):
        cls = Module
        y = cls.group(x)
        return y
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def group(x: T.Buffer((T.int64(4),), "float32"), y_intermediate: T.Buffer((T.int64(4),), "float32")):
        T.func_attr({"tirx.noalias": True})
        # with T.sblock("root"):
        for i in range(T.int64(4)):
            with T.sblock("y"):
                vi = T.axis.spatial(T.int64(4), i)
                T.reads(x[vi])
                T.writes(y_intermediate[vi])
                y_intermediate[vi] = x[vi] + x[vi]
        for i in range(T.int64(4)):
            with T.sblock("x"):
                vi = T.axis.spatial(T.int64(4), i)
                T.reads(y_intermediate[vi])
                T.writes(y_intermediate[vi])
                y_intermediate[vi] = y_intermediate[vi] + T.float32(1.0)

    @R.function(pure=False)
    def main(x: R.Tensor((4,), dtype="float32")) -> R.Tensor((4,), dtype="float32"):
        cls = Module
        y = R.call_tir(cls.group, (x,), out_ty=R.Tensor((4,), dtype="float32"))
        return y
