# run: ComputeMasks
# expect: no changes
# The number of rows, which the kernel clips to, is told by the mask's shape alone.
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def eye(var_e: T.handle):
        T.func_attr({"op_pattern": 0, "tirx.noalias": True})
        n = T.int64()
        e = T.match_buffer(var_e, (n, T.int64(4)))
        for i, j in T.grid(n, T.int64(4)):
            with T.sblock("e"):
                v_i, v_j = T.axis.remap("SS", [i, j])
                T.reads()
                T.writes(e[v_i, v_j])
                e[v_i, v_j] = T.Select(v_i == v_j, T.float32(1.0), T.float32(0.0))

    @T.prim_func(private=True, s_tir=True)
    def last(var_e: T.handle, at: T.Buffer((T.int64(2),), "int64"), y: T.Buffer((T.int64(2),), "int64")):
        T.func_attr({"op_pattern": 0, "tirx.noalias": True})
        n = T.int64()
        e = T.match_buffer(var_e, (n, T.int64(4)))
        for i in range(T.int64(2)):
            with T.sblock("y"):
                v_i = T.axis.spatial(T.int64(2), i)
                T.reads(at[v_i])
                T.writes(y[v_i])
                y[v_i] = T.min(at[v_i], n)

    @R.function
    def main(at: R.Tensor((2,), dtype="int64"), s: R.Shape(["n"])) -> R.Tensor((2,), dtype="int64"):
        n = T.int64()
        cls = Module
        with R.dataflow():
            e = R.call_tir(cls.eye, (), out_ty=R.Tensor((n, 4), dtype="float32"))
            gv = R.call_tir(cls.last, (e, at), out_ty=R.Tensor((2,), dtype="int64"))
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
    @T.prim_func(private=True, s_tir=True)
    def eye(e: T.Buffer((n, T.int64(4)), "float32")):
        T.func_attr({"op_pattern": 0, "tirx.noalias": True})
        # with T.sblock("root"):
        for i, j in T.grid(n, T.int64(4)):
            with T.sblock("e"):
                v_i, v_j = T.axis.remap("SS", [i, j])
                T.reads()
                T.writes(e[v_i, v_j])
                e[v_i, v_j] = T.Select(v_i == v_j, T.float32(1.0), T.float32(0.0))

    @T.prim_func(private=True, s_tir=True)
    def last(e: T.Buffer((n, T.int64(4)), "float32"), at: T.Buffer((T.int64(2),), "int64"), y: T.Buffer((T.int64(2),), "int64")):
        T.func_attr({"op_pattern": 0, "tirx.noalias": True})
        # with T.sblock("root"):
        for i in range(T.int64(2)):
            with T.sblock("y"):
                v_i = T.axis.spatial(T.int64(2), i)
                T.reads(at[v_i])
                T.writes(y[v_i])
                y[v_i] = T.min(at[v_i], n)

    @R.function
    def main(at: R.Tensor((2,), dtype="int64"), s: R.Shape([n])) -> R.Tensor((2,), dtype="int64"):
        cls = Module
        with R.dataflow():
            e = R.call_tir(cls.eye, R.tuple(), out_ty=R.Tensor((n, 4), dtype="float32"))
            gv = R.call_tir(cls.last, (e, at), out_ty=R.Tensor((2,), dtype="int64"))
            R.output(gv)
        return gv
