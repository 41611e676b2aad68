# run: LegalizeOps,AnnotateTIROpPattern,FuseOps(fuse_opt_level=2)
# config: tvm_compat=true
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4, 8), "float32")):
        with R.dataflow():
            a = R.nn.relu(x)
            s = R.split(a, 2, axis=1)
            s0 = s[0]
            s1 = s[1]
            b = R.add(s0, s1)
            t = R.sum(b, axis=0)
            c = R.split(t, 2, axis=0)
            c1 = c[1]
            gv = R.exp(c1)
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
    def add(s0: T.Buffer((T.int64(4), T.int64(4)), "float32"), s1: T.Buffer((T.int64(4), T.int64(4)), "float32"), T_add: T.Buffer((T.int64(4), T.int64(4)), "float32")):
        T.func_attr({"op_pattern": 0, "tirx.noalias": True})
        # with T.sblock("root"):
        for ax0, ax1 in T.grid(T.int64(4), T.int64(4)):
            with T.sblock("T_add"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(s0[v_ax0, v_ax1], s1[v_ax0, v_ax1])
                T.writes(T_add[v_ax0, v_ax1])
                T_add[v_ax0, v_ax1] = s0[v_ax0, v_ax1] + s1[v_ax0, v_ax1]

    @T.prim_func(private=True, s_tir=True)
    def relu(x: T.Buffer((T.int64(4), T.int64(8)), "float32"), compute: T.Buffer((T.int64(4), T.int64(8)), "float32")):
        T.func_attr({"op_pattern": 0, "tirx.noalias": True})
        # with T.sblock("root"):
        for i0, i1 in T.grid(T.int64(4), T.int64(8)):
            with T.sblock("compute"):
                v_i0, v_i1 = T.axis.remap("SS", [i0, i1])
                T.reads(x[v_i0, v_i1])
                T.writes(compute[v_i0, v_i1])
                compute[v_i0, v_i1] = T.max(x[v_i0, v_i1], T.float32(0.0))

    @T.prim_func(private=True, s_tir=True)
    def split(a: T.Buffer((T.int64(4), T.int64(8)), "float32"), T_split_sections: T.Buffer((T.int64(4), T.int64(4)), "float32"), T_split_sections_1: T.Buffer((T.int64(4), T.int64(4)), "float32")):
        T.func_attr({"op_pattern": 2, "tirx.noalias": True})
        # with T.sblock("root"):
        for ax0, ax1 in T.grid(T.int64(4), T.int64(4)):
            with T.sblock("T_split_sections"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(a[v_ax0, v_ax1])
                T.writes(T_split_sections[v_ax0, v_ax1])
                T_split_sections[v_ax0, v_ax1] = a[v_ax0, v_ax1]
        for ax0, ax1 in T.grid(T.int64(4), T.int64(4)):
            with T.sblock("T_split_sections_1"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(a[v_ax0, v_ax1 + T.int64(4)])
                T.writes(T_split_sections_1[v_ax0, v_ax1])
                T_split_sections_1[v_ax0, v_ax1] = a[v_ax0, v_ax1 + T.int64(4)]

    @T.prim_func(private=True, s_tir=True)
    def split1(t: T.Buffer((T.int64(4),), "float32"), T_split_sections: T.Buffer((T.int64(2),), "float32"), T_split_sections_1: T.Buffer((T.int64(2),), "float32")):
        T.func_attr({"op_pattern": 2, "tirx.noalias": True})
        # with T.sblock("root"):
        for ax0 in range(T.int64(2)):
            with T.sblock("T_split_sections"):
                v_ax0 = T.axis.spatial(T.int64(2), ax0)
                T.reads(t[v_ax0])
                T.writes(T_split_sections[v_ax0])
                T_split_sections[v_ax0] = t[v_ax0]
        for ax0 in range(T.int64(2)):
            with T.sblock("T_split_sections_1"):
                v_ax0 = T.axis.spatial(T.int64(2), ax0)
                T.reads(t[v_ax0 + T.int64(2)])
                T.writes(T_split_sections_1[v_ax0])
                T_split_sections_1[v_ax0] = t[v_ax0 + T.int64(2)]

    @T.prim_func(private=True, s_tir=True)
    def sum(b: T.Buffer((T.int64(4), T.int64(4)), "float32"), b_red: T.Buffer((T.int64(4),), "float32")):
        T.func_attr({"op_pattern": 3, "tirx.noalias": True})
        # with T.sblock("root"):
        for ax0, k0 in T.grid(T.int64(4), T.int64(4)):
            with T.sblock("b_red"):
                v_ax0, v_k0 = T.axis.remap("SR", [ax0, k0])
                T.reads(b[v_k0, v_ax0])
                T.writes(b_red[v_ax0])
                with T.init():
                    b_red[v_ax0] = T.float32(0.0)
                b_red[v_ax0] = b_red[v_ax0] + b[v_k0, v_ax0]

    @T.prim_func(private=True, s_tir=True)
    def tir_exp(c1: T.Buffer((T.int64(2),), "float32"), compute: T.Buffer((T.int64(2),), "float32")):
        T.func_attr({"op_pattern": 0, "tirx.noalias": True})
        # with T.sblock("root"):
        for i0 in range(T.int64(2)):
            with T.sblock("compute"):
                v_i0 = T.axis.spatial(T.int64(2), i0)
                T.reads(c1[v_i0])
                T.writes(compute[v_i0])
                compute[v_i0] = T.exp(c1[v_i0])

    @R.function(private=True)
    def fused_add_sum(s0: R.Tensor((4, 4), dtype="float32"), s1: R.Tensor((4, 4), dtype="float32")) -> R.Tensor((4,), dtype="float32"):
        R.func_attr({"Primitive": True})
        cls = Module
        with R.dataflow():
            b = R.call_tir(cls.add, (s0, s1), out_ty=R.Tensor((4, 4), dtype="float32"))
            t = R.call_tir(cls.sum, (b,), out_ty=R.Tensor((4,), dtype="float32"))
            R.output(t)
        return t

    @R.function(private=True)
    def fused_relu_split(x: R.Tensor((4, 8), dtype="float32")) -> R.Tuple(R.Tensor((4, 4), dtype="float32"), R.Tensor((4, 4), dtype="float32")):
        R.func_attr({"Primitive": True})
        cls = Module
        with R.dataflow():
            a = R.call_tir(cls.relu, (x,), out_ty=R.Tensor((4, 8), dtype="float32"))
            s = R.call_tir(cls.split, (a,), out_ty=[R.Tensor((4, 4), dtype="float32"), R.Tensor((4, 4), dtype="float32")])
            R.output(s)
        return s

    @R.function(private=True)
    def fused_split1_tir_exp(t: R.Tensor((4,), dtype="float32")) -> R.Tensor((2,), dtype="float32"):
        R.func_attr({"Primitive": True})
        cls = Module
        with R.dataflow():
            c = R.call_tir(cls.split1, (t,), out_ty=[R.Tensor((2,), dtype="float32"), R.Tensor((2,), dtype="float32")])
            c1: R.Tensor((2,), dtype="float32") = c[1]
            gv = R.call_tir(cls.tir_exp, (c1,), out_ty=R.Tensor((2,), dtype="float32"))
            R.output(gv)
        return gv

    @R.function
    def main(x: R.Tensor((4, 8), dtype="float32")) -> R.Tensor((2,), dtype="float32"):
        cls = Module
        with R.dataflow():
            s: R.Tuple(R.Tensor((4, 4), dtype="float32"), R.Tensor((4, 4), dtype="float32")) = cls.fused_relu_split(x)
            s0: R.Tensor((4, 4), dtype="float32") = s[0]
            s1: R.Tensor((4, 4), dtype="float32") = s[1]
            t: R.Tensor((4,), dtype="float32") = cls.fused_add_sum(s0, s1)
            gv: R.Tensor((2,), dtype="float32") = cls.fused_split1_tir_exp(t)
            R.output(gv)
        return gv
