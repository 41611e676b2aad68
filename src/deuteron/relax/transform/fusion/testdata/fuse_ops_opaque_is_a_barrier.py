# run: LegalizeOps,AnnotateTIROpPattern,FuseOps(fuse_opt_level=2)
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((8, 16), "float32"), i: R.Tensor((4,), "int64")):
        with R.dataflow():
            a = R.exp(x)
            b = R.tanh(a)
            c = R.take(b, i, axis=0)
            d = R.negative(c)
            gv = R.nn.relu(d)
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
    def relu(d: T.Buffer((T.int64(4), T.int64(16)), "float32"), compute: T.Buffer((T.int64(4), T.int64(16)), "float32")):
        T.func_attr({"op_pattern": 0, "tirx.noalias": True})
        # with T.sblock("root"):
        for i0, i1 in T.grid(T.int64(4), T.int64(16)):
            with T.sblock("compute"):
                v_i0, v_i1 = T.axis.remap("SS", [i0, i1])
                T.reads(d[v_i0, v_i1])
                T.writes(compute[v_i0, v_i1])
                compute[v_i0, v_i1] = T.max(d[v_i0, v_i1], T.float32(0.0))

    @T.prim_func(private=True, s_tir=True)
    def take(b: T.Buffer((T.int64(8), T.int64(16)), "float32"), i: T.Buffer((T.int64(4),), "int64"), T_take: T.Buffer((T.int64(4), T.int64(16)), "float32")):
        T.func_attr({"op_pattern": 8, "tirx.noalias": True})
        # with T.sblock("root"):
        for ax0, ax1 in T.grid(T.int64(4), T.int64(16)):
            with T.sblock("T_take"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(b[T.int64(0):T.int64(8), v_ax1], i[v_ax0])
                T.writes(T_take[v_ax0, v_ax1])
                T_take[v_ax0, v_ax1] = b[i[v_ax0], v_ax1]

    @T.prim_func(private=True, s_tir=True)
    def tir_exp(x: T.Buffer((T.int64(8), T.int64(16)), "float32"), compute: T.Buffer((T.int64(8), T.int64(16)), "float32")):
        T.func_attr({"op_pattern": 0, "tirx.noalias": True})
        # with T.sblock("root"):
        for i0, i1 in T.grid(T.int64(8), T.int64(16)):
            with T.sblock("compute"):
                v_i0, v_i1 = T.axis.remap("SS", [i0, i1])
                T.reads(x[v_i0, v_i1])
                T.writes(compute[v_i0, v_i1])
                compute[v_i0, v_i1] = T.exp(x[v_i0, v_i1])

    @T.prim_func(private=True, s_tir=True)
    def tir_negative(c: T.Buffer((T.int64(4), T.int64(16)), "float32"), compute: T.Buffer((T.int64(4), T.int64(16)), "float32")):
        T.func_attr({"op_pattern": 0, "tirx.noalias": True})
        # with T.sblock("root"):
        for i0, i1 in T.grid(T.int64(4), T.int64(16)):
            with T.sblock("compute"):
                v_i0, v_i1 = T.axis.remap("SS", [i0, i1])
                T.reads(c[v_i0, v_i1])
                T.writes(compute[v_i0, v_i1])
                compute[v_i0, v_i1] = c[v_i0, v_i1] * T.float32(-1.0)

    @T.prim_func(private=True, s_tir=True)
    def tir_tanh(a: T.Buffer((T.int64(8), T.int64(16)), "float32"), compute: T.Buffer((T.int64(8), T.int64(16)), "float32")):
        T.func_attr({"op_pattern": 0, "tirx.noalias": True})
        # with T.sblock("root"):
        for i0, i1 in T.grid(T.int64(8), T.int64(16)):
            with T.sblock("compute"):
                v_i0, v_i1 = T.axis.remap("SS", [i0, i1])
                T.reads(a[v_i0, v_i1])
                T.writes(compute[v_i0, v_i1])
                compute[v_i0, v_i1] = T.tanh(a[v_i0, v_i1])

    @R.function(private=True)
    def fused_tir_exp_tir_tanh(x: R.Tensor((8, 16), dtype="float32")) -> R.Tensor((8, 16), dtype="float32"):
        R.func_attr({"Primitive": True})
        cls = Module
        with R.dataflow():
            a = R.call_tir(cls.tir_exp, (x,), out_ty=R.Tensor((8, 16), dtype="float32"))
            b = R.call_tir(cls.tir_tanh, (a,), out_ty=R.Tensor((8, 16), dtype="float32"))
            R.output(b)
        return b

    @R.function(private=True)
    def fused_tir_negative_relu(c: R.Tensor((4, 16), dtype="float32")) -> R.Tensor((4, 16), dtype="float32"):
        R.func_attr({"Primitive": True})
        cls = Module
        with R.dataflow():
            d = R.call_tir(cls.tir_negative, (c,), out_ty=R.Tensor((4, 16), dtype="float32"))
            gv = R.call_tir(cls.relu, (d,), out_ty=R.Tensor((4, 16), dtype="float32"))
            R.output(gv)
        return gv

    @R.function
    def main(x: R.Tensor((8, 16), dtype="float32"), i: R.Tensor((4,), dtype="int64")) -> R.Tensor((4, 16), dtype="float32"):
        cls = Module
        with R.dataflow():
            b: R.Tensor((8, 16), dtype="float32") = cls.fused_tir_exp_tir_tanh(x)
            c = R.call_tir(cls.take, (b, i), out_ty=R.Tensor((4, 16), dtype="float32"))
            gv: R.Tensor((4, 16), dtype="float32") = cls.fused_tir_negative_relu(c)
            R.output(gv)
        return gv
