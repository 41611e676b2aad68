# run: RecomputeProducers
# expect: changes
# target: llvm -mcpu=x86-64-v4 -threads=2
# expect-remark: RecomputeProducers v -> gv: complex-consumer
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def add(x: T.Buffer((T.int64(4096), T.int64(2048)), "float32"), x_1: T.Buffer((T.int64(4096), T.int64(2048)), "float32"), T_add: T.Buffer((T.int64(4096), T.int64(2048)), "float32")):
        T.func_attr({"op_pattern": 0, "tirx.noalias": True})
        for ax0, ax1 in T.grid(T.int64(4096), T.int64(2048)):
            with T.sblock("T_add"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(x[v_ax0, v_ax1], x_1[v_ax0, v_ax1])
                T.writes(T_add[v_ax0, v_ax1])
                T_add[v_ax0, v_ax1] = x[v_ax0, v_ax1] + x_1[v_ax0, v_ax1]

    @T.prim_func(private=True, s_tir=True)
    def matmul(v: T.Buffer((T.int64(4096), T.int64(2048)), "float32"), w: T.Buffer((T.int64(2048), T.int64(64)), "float32"), matmul: T.Buffer((T.int64(4096), T.int64(64)), "float32")):
        T.func_attr({"op_pattern": 4, "tirx.noalias": True})
        for i0, i1, k in T.grid(T.int64(4096), T.int64(64), T.int64(2048)):
            with T.sblock("matmul"):
                v_i0, v_i1, v_k = T.axis.remap("SSR", [i0, i1, k])
                T.reads(v[v_i0, v_k], w[v_k, v_i1])
                T.writes(matmul[v_i0, v_i1])
                with T.init():
                    matmul[v_i0, v_i1] = T.float32(0.0)
                matmul[v_i0, v_i1] = matmul[v_i0, v_i1] + v[v_i0, v_k] * w[v_k, v_i1]

    @T.prim_func(private=True, s_tir=True)
    def transpose(v: T.Buffer((T.int64(4096), T.int64(2048)), "float32"), T_transpose: T.Buffer((T.int64(2048), T.int64(4096)), "float32")):
        T.func_attr({"op_pattern": 2, "tirx.noalias": True})
        for ax0, ax1 in T.grid(T.int64(2048), T.int64(4096)):
            with T.sblock("T_transpose"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(v[v_ax1, v_ax0])
                T.writes(T_transpose[v_ax0, v_ax1])
                T_transpose[v_ax0, v_ax1] = v[v_ax1, v_ax0]

    @R.function
    def main(x: R.Tensor((4096, 2048), dtype="float32"), w: R.Tensor((2048, 64), dtype="float32")) -> R.Tuple(R.Tensor((4096, 64), dtype="float32"), R.Tensor((2048, 4096), dtype="float32")):
        cls = Module
        with R.dataflow():
            v = R.call_tir(cls.add, (x, x), out_ty=R.Tensor((4096, 2048), dtype="float32"))
            gv = R.call_tir(cls.matmul, (v, w), out_ty=R.Tensor((4096, 64), dtype="float32"))
            gv1 = R.call_tir(cls.transpose, (v,), out_ty=R.Tensor((2048, 4096), dtype="float32"))
            R.output(gv, gv1)
        return (gv, gv1)
# ----- expected
# as before: add, main, matmul, transpose
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    pass
