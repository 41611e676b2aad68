# run: FuseTIR
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def add(A: T.Buffer((T.int64(8),), "float32"), B: T.Buffer((T.int64(8),), "float32"), C: T.Buffer((T.int64(8),), "float32")):
        T.func_attr({"tirx.noalias": True})
        for i in range(T.int64(8)):
            with T.sblock("add"):
                vi = T.axis.spatial(T.int64(8), i)
                T.reads(A[vi], B[vi])
                T.writes(C[vi])
                C[vi] = A[vi] + B[vi]

    @R.function(private=True)
    def fused(t: R.Tuple(R.Tuple(R.Tensor((8,), dtype="float32"), R.Tuple(R.Tensor((8,), dtype="float32"), R.Tensor((8,), dtype="float32"))), R.Tuple(R.Tensor((8,), dtype="float32"), R.Tensor((8,), dtype="float32")))) -> R.Tensor((8,), dtype="float32"):
        R.func_attr({"Primitive": True})
        cls = Module
        with R.dataflow():
            q = t[0]
            a = q[0]
            u = q[1]
            b = u[0]
            c = u[1]
            z = t[1]
            y = z[1]
            d = R.call_tir(cls.add, (a, b,), out_ty=R.Tensor((8,), dtype="float32"))
            f = R.call_tir(cls.add, (d, c,), out_ty=R.Tensor((8,), dtype="float32"))
            e = R.call_tir(cls.add, (f, y,), out_ty=R.Tensor((8,), dtype="float32"))
            R.output(e)
        return e

    @R.function
    def main(w: R.Tuple(R.Tuple(R.Tensor((8,), dtype="float32"), R.Tuple(R.Tensor((8,), dtype="float32"), R.Tensor((8,), dtype="float32"))), R.Tuple(R.Tensor((8,), dtype="float32"), R.Tensor((8,), dtype="float32")))) -> R.Tensor((8,), dtype="float32"):
        cls = Module
        with R.dataflow():
            g = cls.fused(w)
            R.output(g)
        return g
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def fused(t_0_0: T.Buffer((T.int64(8),), "float32"), t_0_1_0: T.Buffer((T.int64(8),), "float32"), t_0_1_1: T.Buffer((T.int64(8),), "float32"), t_1_1: T.Buffer((T.int64(8),), "float32"), C_intermediate_2: T.Buffer((T.int64(8),), "float32")):
        T.func_attr({"tirx.noalias": True})
        # with T.sblock("root"):
        C_intermediate = T.sblock_alloc_buffer((T.int64(8),))
        C_intermediate_1 = T.sblock_alloc_buffer((T.int64(8),))
        for i in range(T.int64(8)):
            with T.sblock("add"):
                vi = T.axis.spatial(T.int64(8), i)
                T.reads(t_0_0[vi], t_0_1_0[vi])
                T.writes(C_intermediate[vi])
                C_intermediate[vi] = t_0_0[vi] + t_0_1_0[vi]
        for i in range(T.int64(8)):
            with T.sblock("add1"):
                vi = T.axis.spatial(T.int64(8), i)
                T.reads(C_intermediate[vi], t_0_1_1[vi])
                T.writes(C_intermediate_1[vi])
                C_intermediate_1[vi] = C_intermediate[vi] + t_0_1_1[vi]
        for i in range(T.int64(8)):
            with T.sblock("add2"):
                vi = T.axis.spatial(T.int64(8), i)
                T.reads(C_intermediate_1[vi], t_1_1[vi])
                T.writes(C_intermediate_2[vi])
                C_intermediate_2[vi] = C_intermediate_1[vi] + t_1_1[vi]

    @R.function
    def main(w: R.Tuple(R.Tuple(R.Tensor((8,), dtype="float32"), R.Tuple(R.Tensor((8,), dtype="float32"), R.Tensor((8,), dtype="float32"))), R.Tuple(R.Tensor((8,), dtype="float32"), R.Tensor((8,), dtype="float32")))) -> R.Tensor((8,), dtype="float32"):
        cls = Module
        with R.dataflow():
            lv: R.Tuple(R.Tensor((8,), dtype="float32"), R.Tuple(R.Tensor((8,), dtype="float32"), R.Tensor((8,), dtype="float32"))) = w[0]
            lv_1: R.Tensor((8,), dtype="float32") = lv[0]
            lv_2: R.Tuple(R.Tensor((8,), dtype="float32"), R.Tensor((8,), dtype="float32")) = lv[1]
            lv_3: R.Tensor((8,), dtype="float32") = lv_2[0]
            lv_4: R.Tensor((8,), dtype="float32") = lv_2[1]
            lv_5: R.Tuple(R.Tensor((8,), dtype="float32"), R.Tensor((8,), dtype="float32")) = w[1]
            lv_6: R.Tensor((8,), dtype="float32") = lv_5[1]
            g = R.call_tir(cls.fused, (lv_1, lv_3, lv_4, lv_6), out_ty=R.Tensor((8,), dtype="float32"))
            R.output(g)
        return g
