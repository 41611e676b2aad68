# run:
import tvm
from tvm.script import relax as R, tir as T


@tvm.script.ir_module
class MyModule:
    @T.prim_func
    def exp(x: T.handle, y: T.handle) -> None:
        T.func_attr({"global_symbol": "exp", "tir.noalias": True})
        n = T.int64()
        A = T.match_buffer(x, (n, T.int64(4)), "float32")
        B = T.match_buffer(y, (n, T.int64(4)), 'float32')
        C = T.alloc_buffer((n, T.int64(4)), dtype="float32")
        for i, j in T.grid(n, T.int64(4)):
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = A[vi, vj] * 2
        for i, j in T.grid(n, T.int64(4)):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = T.exp(C[vi, vj])

    @R.function
    def main(x: Tensor(("n", 4), "float32")):
        n = T.int64()
        with relax.dataflow():
            y = relax.call_tir(MyModule.exp, (x,), out_sinfo=Tensor((n, 4), "float32"))
            relax.output(y)
        return y
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

n = TypeVar("n")
@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def exp(A: T.Buffer((n, T.int64(4)), "float32"), B: T.Buffer((n, T.int64(4)), "float32")):
        T.func_attr({"tirx.noalias": True})
        # with T.sblock("root"):
        C = T.sblock_alloc_buffer((n, T.int64(4)))
        for i, j in T.grid(n, T.int64(4)):
            with T.sblock("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                T.reads(A[vi, vj])
                T.writes(C[vi, vj])
                C[vi, vj] = A[vi, vj] * T.float32(2.0)
        for i, j in T.grid(n, T.int64(4)):
            with T.sblock("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                T.reads(C[vi, vj])
                T.writes(B[vi, vj])
                B[vi, vj] = T.exp(C[vi, vj])

    @R.function
    def main(x: R.Tensor((n, 4), dtype="float32")) -> R.Tensor((n, 4), dtype="float32"):
        cls = Module
        with R.dataflow():
            y = R.call_tir(cls.exp, (x,), out_ty=R.Tensor((n, 4), dtype="float32"))
            R.output(y)
        return y
