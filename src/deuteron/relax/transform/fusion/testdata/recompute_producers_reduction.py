# run: RecomputeProducers
# expect: no changes
# target: llvm -mcpu=x86-64-v4 -threads=2
# A sum is never computed again, though these are so short that it would save bytes.
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def sum(x: T.Buffer((T.int64(4096), T.int64(2048), T.int64(2)), "float32"), x_red: T.Buffer((T.int64(4096), T.int64(2048)), "float32")):
        T.func_attr({"op_pattern": 3, "tirx.noalias": True})
        for ax0, ax1, k0 in T.grid(T.int64(4096), T.int64(2048), T.int64(2)):
            with T.sblock("x_red"):
                v_ax0, v_ax1, v_k0 = T.axis.remap("SSR", [ax0, ax1, k0])
                T.reads(x[v_ax0, v_ax1, v_k0])
                T.writes(x_red[v_ax0, v_ax1])
                with T.init():
                    x_red[v_ax0, v_ax1] = T.float32(0.0)
                x_red[v_ax0, v_ax1] = x_red[v_ax0, v_ax1] + x[v_ax0, v_ax1, v_k0]

    @T.prim_func(private=True, s_tir=True)
    def negative(v: T.Buffer((T.int64(4096), T.int64(2048)), "float32"), compute: T.Buffer((T.int64(4096), T.int64(2048)), "float32")):
        T.func_attr({"op_pattern": 0, "tirx.noalias": True})
        for i0, i1 in T.grid(T.int64(4096), T.int64(2048)):
            with T.sblock("compute"):
                v_i0, v_i1 = T.axis.remap("SS", [i0, i1])
                T.reads(v[v_i0, v_i1])
                T.writes(compute[v_i0, v_i1])
                compute[v_i0, v_i1] = v[v_i0, v_i1] * T.float32(-1.0)

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
    def main(x: R.Tensor((4096, 2048, 2), dtype="float32")) -> R.Tuple(R.Tensor((4096, 2048), dtype="float32"), R.Tensor((2048, 4096), dtype="float32")):
        cls = Module
        with R.dataflow():
            v = R.call_tir(cls.sum, (x,), out_ty=R.Tensor((4096, 2048), dtype="float32"))
            gv = R.call_tir(cls.negative, (v,), out_ty=R.Tensor((4096, 2048), dtype="float32"))
            gv1 = R.call_tir(cls.transpose, (v,), out_ty=R.Tensor((2048, 4096), dtype="float32"))
            R.output(gv, gv1)
        return (gv, gv1)
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def negative(v: T.Buffer((T.int64(4096), T.int64(2048)), "float32"), compute: T.Buffer((T.int64(4096), T.int64(2048)), "float32")):
        T.func_attr({"op_pattern": 0, "tirx.noalias": True})
        # with T.sblock("root"):
        for i0, i1 in T.grid(T.int64(4096), T.int64(2048)):
            with T.sblock("compute"):
                v_i0, v_i1 = T.axis.remap("SS", [i0, i1])
                T.reads(v[v_i0, v_i1])
                T.writes(compute[v_i0, v_i1])
                compute[v_i0, v_i1] = v[v_i0, v_i1] * T.float32(-1.0)

    @T.prim_func(private=True, s_tir=True)
    def sum(x: T.Buffer((T.int64(4096), T.int64(2048), T.int64(2)), "float32"), x_red: T.Buffer((T.int64(4096), T.int64(2048)), "float32")):
        T.func_attr({"op_pattern": 3, "tirx.noalias": True})
        # with T.sblock("root"):
        for ax0, ax1, k0 in T.grid(T.int64(4096), T.int64(2048), T.int64(2)):
            with T.sblock("x_red"):
                v_ax0, v_ax1, v_k0 = T.axis.remap("SSR", [ax0, ax1, k0])
                T.reads(x[v_ax0, v_ax1, v_k0])
                T.writes(x_red[v_ax0, v_ax1])
                with T.init():
                    x_red[v_ax0, v_ax1] = T.float32(0.0)
                x_red[v_ax0, v_ax1] = x_red[v_ax0, v_ax1] + x[v_ax0, v_ax1, v_k0]

    @T.prim_func(private=True, s_tir=True)
    def transpose(v: T.Buffer((T.int64(4096), T.int64(2048)), "float32"), T_transpose: T.Buffer((T.int64(2048), T.int64(4096)), "float32")):
        T.func_attr({"op_pattern": 2, "tirx.noalias": True})
        # with T.sblock("root"):
        for ax0, ax1 in T.grid(T.int64(2048), T.int64(4096)):
            with T.sblock("T_transpose"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(v[v_ax1, v_ax0])
                T.writes(T_transpose[v_ax0, v_ax1])
                T_transpose[v_ax0, v_ax1] = v[v_ax1, v_ax0]

    @R.function
    def main(x: R.Tensor((4096, 2048, 2), dtype="float32")) -> R.Tuple(R.Tensor((4096, 2048), dtype="float32"), R.Tensor((2048, 4096), dtype="float32")):
        cls = Module
        with R.dataflow():
            v = R.call_tir(cls.sum, (x,), out_ty=R.Tensor((4096, 2048), dtype="float32"))
            gv = R.call_tir(cls.negative, (v,), out_ty=R.Tensor((4096, 2048), dtype="float32"))
            gv1 = R.call_tir(cls.transpose, (v,), out_ty=R.Tensor((2048, 4096), dtype="float32"))
            R.output(gv, gv1)
        return (gv, gv1)
