# run: RecomputeProducers
# expect: changes
# target: llvm -mcpu=x86-64-v4 -threads=2
# expect-remark: RecomputeProducers v -> gv: recomputed-too-often
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def broadcast_to(v: T.Buffer((T.int64(4096), T.int64(2048)), "float32"), T_broadcast_to: T.Buffer((T.int64(16), T.int64(4096), T.int64(2048)), "float32")):
        T.func_attr({"op_pattern": 1, "tirx.noalias": True})
        for ax0, ax1, ax2 in T.grid(T.int64(16), T.int64(4096), T.int64(2048)):
            with T.sblock("T_broadcast_to"):
                v_ax0, v_ax1, v_ax2 = T.axis.remap("SSS", [ax0, ax1, ax2])
                T.reads(v[v_ax1, v_ax2])
                T.writes(T_broadcast_to[v_ax0, v_ax1, v_ax2])
                T_broadcast_to[v_ax0, v_ax1, v_ax2] = v[v_ax1, v_ax2]

    @T.prim_func(private=True, s_tir=True)
    def sum(v: T.Buffer((T.int64(4096), T.int64(2048)), "float32"), v_red: T.Buffer((T.int64(2048),), "float32")):
        T.func_attr({"op_pattern": 3, "tirx.noalias": True})
        for ax0, k0 in T.grid(T.int64(2048), T.int64(4096)):
            with T.sblock("v_red"):
                v_ax0, v_k0 = T.axis.remap("SR", [ax0, k0])
                T.reads(v[v_k0, v_ax0])
                T.writes(v_red[v_ax0])
                with T.init():
                    v_red[v_ax0] = T.float32(0.0)
                v_red[v_ax0] = v_red[v_ax0] + v[v_k0, v_ax0]

    @T.prim_func(private=True, s_tir=True)
    def tir_exp(x: T.Buffer((T.int64(4096), T.int64(2048)), "float32"), compute: T.Buffer((T.int64(4096), T.int64(2048)), "float32")):
        T.func_attr({"op_pattern": 0, "tirx.noalias": True})
        for i0, i1 in T.grid(T.int64(4096), T.int64(2048)):
            with T.sblock("compute"):
                v_i0, v_i1 = T.axis.remap("SS", [i0, i1])
                T.reads(x[v_i0, v_i1])
                T.writes(compute[v_i0, v_i1])
                compute[v_i0, v_i1] = T.exp(x[v_i0, v_i1])

    @R.function
    def main(x: R.Tensor((4096, 2048), dtype="float32"), y: R.Tensor((4096, 2048), dtype="float32")) -> R.Tuple(R.Tensor((16, 4096, 2048), dtype="float32"), R.Tensor((2048,), dtype="float32")):
        cls = Module
        with R.dataflow():
            v = R.call_tir(cls.tir_exp, (x,), out_ty=R.Tensor((4096, 2048), dtype="float32"))
            gv = R.call_tir(cls.broadcast_to, (v,), out_ty=R.Tensor((16, 4096, 2048), dtype="float32"))
            gv1 = R.call_tir(cls.sum, (v,), out_ty=R.Tensor((2048,), dtype="float32"))
            R.output(gv, gv1)
        return (gv, gv1)
# ----- expected
# as before: broadcast_to, main, sum, tir_exp
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    pass
