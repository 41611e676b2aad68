# run: FuseTIR
# expect-remark: FuseTIR value_needed_again: not-merged
# expect-remark: FuseTIR parameter_is_no_result: not-merged
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
    @T.prim_func(private=True, s_tir=True)
    def add(x: T.Buffer((T.int64(4),), "float32"), y: T.Buffer((T.int64(4),), "float32"), z: T.Buffer((T.int64(4),), "float32")):
        for i in range(T.int64(4)):
            with T.sblock("z"):
                vi = T.axis.spatial(T.int64(4), i)
                z[vi] = x[vi] + y[vi]
    @R.function(private=True)
    def value_needed_again(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        R.func_attr({"Primitive": True})
        cls = Module
        with R.dataflow():
            a = R.call_tir(cls.double, (x,), out_ty=R.Tensor((4,), "float32"))
            b = R.call_tir_inplace(cls.increase, (a,), inplace_indices=[0], out_ty=R.Tensor((4,), "float32"))
            gv = R.call_tir(cls.add, (a, b), out_ty=R.Tensor((4,), "float32"))
            R.output(gv)
        return gv
    @R.function(private=True)
    def parameter_is_no_result(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        R.func_attr({"Primitive": True})
        cls = Module
        with R.dataflow():
            a = R.call_tir_inplace(cls.increase, (x,), inplace_indices=[0], out_ty=R.Tensor((4,), "float32"))
            gv = R.call_tir(cls.double, (a,), out_ty=R.Tensor((4,), "float32"))
            R.output(gv)
        return gv
    @R.function(private=True)
    def free(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        R.func_attr({"Primitive": True})
        cls = Module
        with R.dataflow():
            a = R.call_tir(cls.double, (x,), out_ty=R.Tensor((4,), "float32"))
            b = R.call_tir_inplace(cls.increase, (a,), inplace_indices=[0], out_ty=R.Tensor((4,), "float32"))
            gv = R.call_tir(cls.double, (b,), out_ty=R.Tensor((4,), "float32"))
            R.output(gv)
        return gv
    @R.function(pure=False)
    def main(x: R.Tensor((4,), "float32")):
        cls = Module
        a = cls.value_needed_again(x)
        b = cls.parameter_is_no_result(a)
        c = cls.free(b)
        return (c, a)
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def add(x: T.Buffer((T.int64(4),), "float32"), y: T.Buffer((T.int64(4),), "float32"), z: T.Buffer((T.int64(4),), "float32")):
        # with T.sblock("root"):
        for i in range(T.int64(4)):
            with T.sblock("z"):
                vi = T.axis.spatial(T.int64(4), i)
                T.reads(x[vi], y[vi])
                T.writes(z[vi])
                z[vi] = x[vi] + y[vi]

    @T.prim_func(private=True, s_tir=True)
    def double(x: T.Buffer((T.int64(4),), "float32"), y: T.Buffer((T.int64(4),), "float32")):
        # with T.sblock("root"):
        for i in range(T.int64(4)):
            with T.sblock("y"):
                vi = T.axis.spatial(T.int64(4), i)
                T.reads(x[vi])
                T.writes(y[vi])
                y[vi] = x[vi] + x[vi]

    @T.prim_func(private=True, s_tir=True)
    def free(x: T.Buffer((T.int64(4),), "float32"), y_intermediate_1: T.Buffer((T.int64(4),), "float32")):
        T.func_attr({"tirx.noalias": True})
        # with T.sblock("root"):
        y_intermediate = T.sblock_alloc_buffer((T.int64(4),))
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
        for i in range(T.int64(4)):
            with T.sblock("y1"):
                vi = T.axis.spatial(T.int64(4), i)
                T.reads(y_intermediate[vi])
                T.writes(y_intermediate_1[vi])
                y_intermediate_1[vi] = y_intermediate[vi] + y_intermediate[vi]

    @T.prim_func(private=True, s_tir=True)
    def increase(x: T.Buffer((T.int64(4),), "float32")):
        # with T.sblock("root"):
        for i in range(T.int64(4)):
            with T.sblock("x"):
                vi = T.axis.spatial(T.int64(4), i)
                T.reads(x[vi])
                T.writes(x[vi])
                x[vi] = x[vi] + T.float32(1.0)

    @R.function(private=True)
    def parameter_is_no_result(x: R.Tensor((4,), dtype="float32")) -> R.Tensor((4,), dtype="float32"):
        R.func_attr({"Primitive": True})
        cls = Module
        with R.dataflow():
            a: R.Tensor((4,), dtype="float32") = R.call_tir_inplace(cls.increase, (x,), out_ty=R.Tensor((4,), dtype="float32"), inplace_indices=[0])
            gv = R.call_tir(cls.double, (a,), out_ty=R.Tensor((4,), dtype="float32"))
            R.output(gv)
        return gv

    @R.function(private=True)
    def value_needed_again(x: R.Tensor((4,), dtype="float32")) -> R.Tensor((4,), dtype="float32"):
        R.func_attr({"Primitive": True})
        cls = Module
        with R.dataflow():
            a = R.call_tir(cls.double, (x,), out_ty=R.Tensor((4,), dtype="float32"))
            b: R.Tensor((4,), dtype="float32") = R.call_tir_inplace(cls.increase, (a,), out_ty=R.Tensor((4,), dtype="float32"), inplace_indices=[0])
            gv = R.call_tir(cls.add, (a, b), out_ty=R.Tensor((4,), dtype="float32"))
            R.output(gv)
        return gv

    @R.function(pure=False)
    def main(x: R.Tensor((4,), dtype="float32")) -> R.Tuple(R.Tensor((4,), dtype="float32"), R.Tensor((4,), dtype="float32")):
        cls = Module
        a: R.Tensor((4,), dtype="float32") = cls.value_needed_again(x)
        b: R.Tensor((4,), dtype="float32") = cls.parameter_is_no_result(a)
        c = R.call_tir(cls.free, (b,), out_ty=R.Tensor((4,), dtype="float32"))
        return (c, a)
