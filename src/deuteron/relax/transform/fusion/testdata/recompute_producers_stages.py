# run: RecomputeProducers
# expect: changes
# target: llvm -mcpu=x86-64-v4 -threads=2
# expect-remark: RecomputeProducers v -> gv: stages-in-consumer
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def reshape(v: T.Buffer((T.int64(2048), T.int64(4096)), "float32"), T_reshape: T.Buffer((T.int64(4096), T.int64(2048)), "float32")):
        T.func_attr({"op_pattern": 2, "tirx.noalias": True})
        for ax0, ax1 in T.grid(T.int64(4096), T.int64(2048)):
            with T.sblock("T_reshape"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(v[v_ax0 // T.int64(2), v_ax1 + v_ax0 % T.int64(2) * T.int64(2048)])
                T.writes(T_reshape[v_ax0, v_ax1])
                T_reshape[v_ax0, v_ax1] = v[v_ax0 // T.int64(2), v_ax1 + v_ax0 % T.int64(2) * T.int64(2048)]

    @T.prim_func(private=True, s_tir=True)
    def sum(v: T.Buffer((T.int64(2048), T.int64(4096)), "float32"), v_red: T.Buffer((T.int64(4096),), "float32")):
        T.func_attr({"op_pattern": 3, "tirx.noalias": True})
        for ax0, k0 in T.grid(T.int64(4096), T.int64(2048)):
            with T.sblock("v_red"):
                v_ax0, v_k0 = T.axis.remap("SR", [ax0, k0])
                T.reads(v[v_k0, v_ax0])
                T.writes(v_red[v_ax0])
                with T.init():
                    v_red[v_ax0] = T.float32(0.0)
                v_red[v_ax0] = v_red[v_ax0] + v[v_k0, v_ax0]

    @T.prim_func(private=True, s_tir=True)
    def transpose(x: T.Buffer((T.int64(4096), T.int64(2048)), "float32"), T_transpose: T.Buffer((T.int64(2048), T.int64(4096)), "float32")):
        T.func_attr({"op_pattern": 2, "tirx.noalias": True})
        for ax0, ax1 in T.grid(T.int64(2048), T.int64(4096)):
            with T.sblock("T_transpose"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(x[v_ax1, v_ax0])
                T.writes(T_transpose[v_ax0, v_ax1])
                T_transpose[v_ax0, v_ax1] = x[v_ax1, v_ax0]

    @R.function
    def main(x: R.Tensor((4096, 2048), dtype="float32"), y: R.Tensor((4096, 2048), dtype="float32")) -> R.Tuple(R.Tensor((4096,), dtype="float32"), R.Tensor((4096, 2048), dtype="float32")):
        cls = Module
        with R.dataflow():
            v = R.call_tir(cls.transpose, (x,), out_ty=R.Tensor((2048, 4096), dtype="float32"))
            gv = R.call_tir(cls.sum, (v,), out_ty=R.Tensor((4096,), dtype="float32"))
            gv1 = R.call_tir(cls.reshape, (v,), out_ty=R.Tensor((4096, 2048), dtype="float32"))
            R.output(gv, gv1)
        return (gv, gv1)
# ----- expected
# as before: main, reshape, sum, transpose
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    pass
