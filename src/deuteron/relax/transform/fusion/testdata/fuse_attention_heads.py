# run: FuseOps(fuse_opt_level=2),FuseReductions,FuseAttention
# target: llvm -mcpu=x86-64-v4 -threads=2
# expect-remark: FuseAttention p -> o: fused
# expect: changes
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def add(s: T.Buffer((T.int64(1), T.int64(2), T.int64(32), T.int64(40)), "float32"), mask: T.Buffer((T.int64(1), T.int64(1), T.int64(1), T.int64(40)), "float32"), T_add: T.Buffer((T.int64(1), T.int64(2), T.int64(32), T.int64(40)), "float32")):
        T.func_attr({"op_pattern": 0, "tirx.noalias": True})
        # with T.sblock("root"):
        for ax0, ax1, ax2, ax3 in T.grid(T.int64(1), T.int64(2), T.int64(32), T.int64(40)):
            with T.sblock("T_add"):
                v_ax0, v_ax1, v_ax2, v_ax3 = T.axis.remap("SSSS", [ax0, ax1, ax2, ax3])
                T.reads(s[v_ax0, v_ax1, v_ax2, v_ax3], mask[v_ax0, T.int64(0), T.int64(0), v_ax3])
                T.writes(T_add[v_ax0, v_ax1, v_ax2, v_ax3])
                T_add[v_ax0, v_ax1, v_ax2, v_ax3] = s[v_ax0, v_ax1, v_ax2, v_ax3] + mask[v_ax0, T.int64(0), T.int64(0), v_ax3]

    @T.prim_func(private=True, s_tir=True)
    def matmul(q: T.Buffer((T.int64(1), T.int64(2), T.int64(32), T.int64(8)), "float32"), k: T.Buffer((T.int64(1), T.int64(2), T.int64(8), T.int64(40)), "float32"), matmul: T.Buffer((T.int64(1), T.int64(2), T.int64(32), T.int64(40)), "float32")):
        T.func_attr({"op_pattern": 4, "tirx.noalias": True})
        # with T.sblock("root"):
        for i0, i1, i2, i3, k_1 in T.grid(T.int64(1), T.int64(2), T.int64(32), T.int64(40), T.int64(8)):
            with T.sblock("matmul"):
                v_i0, v_i1, v_i2, v_i3, v_k = T.axis.remap("SSSSR", [i0, i1, i2, i3, k_1])
                T.reads(q[v_i0, v_i1, v_i2, v_k], k[v_i0, v_i1, v_k, v_i3])
                T.writes(matmul[v_i0, v_i1, v_i2, v_i3])
                with T.init():
                    matmul[v_i0, v_i1, v_i2, v_i3] = T.float32(0.0)
                matmul[v_i0, v_i1, v_i2, v_i3] = matmul[v_i0, v_i1, v_i2, v_i3] + q[v_i0, v_i1, v_i2, v_k] * k[v_i0, v_i1, v_k, v_i3]

    @T.prim_func(private=True, s_tir=True)
    def matmul1(p: T.Buffer((T.int64(1), T.int64(2), T.int64(32), T.int64(40)), "float32"), v: T.Buffer((T.int64(1), T.int64(2), T.int64(40), T.int64(8)), "float32"), matmul: T.Buffer((T.int64(1), T.int64(2), T.int64(32), T.int64(8)), "float32")):
        T.func_attr({"op_pattern": 4, "tirx.noalias": True})
        # with T.sblock("root"):
        for i0, i1, i2, i3, k in T.grid(T.int64(1), T.int64(2), T.int64(32), T.int64(8), T.int64(40)):
            with T.sblock("matmul"):
                v_i0, v_i1, v_i2, v_i3, v_k = T.axis.remap("SSSSR", [i0, i1, i2, i3, k])
                T.reads(p[v_i0, v_i1, v_i2, v_k], v[v_i0, v_i1, v_k, v_i3])
                T.writes(matmul[v_i0, v_i1, v_i2, v_i3])
                with T.init():
                    matmul[v_i0, v_i1, v_i2, v_i3] = T.float32(0.0)
                matmul[v_i0, v_i1, v_i2, v_i3] = matmul[v_i0, v_i1, v_i2, v_i3] + p[v_i0, v_i1, v_i2, v_k] * v[v_i0, v_i1, v_k, v_i3]

    @T.prim_func(private=True, s_tir=True)
    def softmax(m: T.Buffer((T.int64(1), T.int64(2), T.int64(32), T.int64(40)), "float32"), T_softmax_norm: T.Buffer((T.int64(1), T.int64(2), T.int64(32), T.int64(40)), "float32")):
        T.func_attr({"op_pattern": 4, "tirx.noalias": True})
        # with T.sblock("root"):
        T_softmax_maxelem = T.sblock_alloc_buffer((T.int64(1), T.int64(2), T.int64(32)))
        T_softmax_exp = T.sblock_alloc_buffer((T.int64(1), T.int64(2), T.int64(32), T.int64(40)))
        T_softmax_expsum = T.sblock_alloc_buffer((T.int64(1), T.int64(2), T.int64(32)))
        for i0, i1, i2, k in T.grid(T.int64(1), T.int64(2), T.int64(32), T.int64(40)):
            with T.sblock("T_softmax_maxelem"):
                v_i0, v_i1, v_i2, v_k = T.axis.remap("SSSR", [i0, i1, i2, k])
                T.reads(m[v_i0, v_i1, v_i2, v_k])
                T.writes(T_softmax_maxelem[v_i0, v_i1, v_i2])
                with T.init():
                    T_softmax_maxelem[v_i0, v_i1, v_i2] = T.float32(-3.4028234663852886e+38)
                T_softmax_maxelem[v_i0, v_i1, v_i2] = T.max(T_softmax_maxelem[v_i0, v_i1, v_i2], m[v_i0, v_i1, v_i2, v_k])
        for i0, i1, i2, i3 in T.grid(T.int64(1), T.int64(2), T.int64(32), T.int64(40)):
            with T.sblock("T_softmax_exp"):
                v_i0, v_i1, v_i2, v_i3 = T.axis.remap("SSSS", [i0, i1, i2, i3])
                T.reads(m[v_i0, v_i1, v_i2, v_i3], T_softmax_maxelem[v_i0, v_i1, v_i2])
                T.writes(T_softmax_exp[v_i0, v_i1, v_i2, v_i3])
                T_softmax_exp[v_i0, v_i1, v_i2, v_i3] = T.exp(m[v_i0, v_i1, v_i2, v_i3] - T_softmax_maxelem[v_i0, v_i1, v_i2])
        for i0, i1, i2, k in T.grid(T.int64(1), T.int64(2), T.int64(32), T.int64(40)):
            with T.sblock("T_softmax_expsum"):
                v_i0, v_i1, v_i2, v_k = T.axis.remap("SSSR", [i0, i1, i2, k])
                T.reads(T_softmax_exp[v_i0, v_i1, v_i2, v_k])
                T.writes(T_softmax_expsum[v_i0, v_i1, v_i2])
                with T.init():
                    T_softmax_expsum[v_i0, v_i1, v_i2] = T.float32(0.0)
                T_softmax_expsum[v_i0, v_i1, v_i2] = T_softmax_expsum[v_i0, v_i1, v_i2] + T_softmax_exp[v_i0, v_i1, v_i2, v_k]
        for i0, i1, i2, i3 in T.grid(T.int64(1), T.int64(2), T.int64(32), T.int64(40)):
            with T.sblock("T_softmax_norm"):
                v_i0, v_i1, v_i2, v_i3 = T.axis.remap("SSSS", [i0, i1, i2, i3])
                T.reads(T_softmax_exp[v_i0, v_i1, v_i2, v_i3], T_softmax_expsum[v_i0, v_i1, v_i2])
                T.writes(T_softmax_norm[v_i0, v_i1, v_i2, v_i3])
                T.sblock_attr({"axis": 3})
                T_softmax_norm[v_i0, v_i1, v_i2, v_i3] = T_softmax_exp[v_i0, v_i1, v_i2, v_i3] / T_softmax_expsum[v_i0, v_i1, v_i2]

    @T.prim_func(private=True, s_tir=True)
    def transpose(x: T.Buffer((T.int64(1), T.int64(32), T.int64(2), T.int64(8)), "float32"), T_transpose: T.Buffer((T.int64(1), T.int64(2), T.int64(32), T.int64(8)), "float32")):
        T.func_attr({"op_pattern": 2, "tirx.noalias": True})
        # with T.sblock("root"):
        for ax0, ax1, ax2, ax3 in T.grid(T.int64(1), T.int64(2), T.int64(32), T.int64(8)):
            with T.sblock("T_transpose"):
                v_ax0, v_ax1, v_ax2, v_ax3 = T.axis.remap("SSSS", [ax0, ax1, ax2, ax3])
                T.reads(x[v_ax0, v_ax2, v_ax1, v_ax3])
                T.writes(T_transpose[v_ax0, v_ax1, v_ax2, v_ax3])
                T_transpose[v_ax0, v_ax1, v_ax2, v_ax3] = x[v_ax0, v_ax2, v_ax1, v_ax3]

    @T.prim_func(private=True, s_tir=True)
    def transpose1(o: T.Buffer((T.int64(1), T.int64(2), T.int64(32), T.int64(8)), "float32"), T_transpose: T.Buffer((T.int64(1), T.int64(32), T.int64(2), T.int64(8)), "float32")):
        T.func_attr({"op_pattern": 2, "tirx.noalias": True})
        # with T.sblock("root"):
        for ax0, ax1, ax2, ax3 in T.grid(T.int64(1), T.int64(32), T.int64(2), T.int64(8)):
            with T.sblock("T_transpose"):
                v_ax0, v_ax1, v_ax2, v_ax3 = T.axis.remap("SSSS", [ax0, ax1, ax2, ax3])
                T.reads(o[v_ax0, v_ax2, v_ax1, v_ax3])
                T.writes(T_transpose[v_ax0, v_ax1, v_ax2, v_ax3])
                T_transpose[v_ax0, v_ax1, v_ax2, v_ax3] = o[v_ax0, v_ax2, v_ax1, v_ax3]

    @R.function
    def main(x: R.Tensor((1, 32, 2, 8), dtype="float32"), k: R.Tensor((1, 2, 8, 40), dtype="float32"), v: R.Tensor((1, 2, 40, 8), dtype="float32"), mask: R.Tensor((1, 1, 1, 40), dtype="float32")) -> R.Tensor((1, 32, 2, 8), dtype="float32"):
        cls = Module
        with R.dataflow():
            q = R.call_tir(cls.transpose, (x,), out_ty=R.Tensor((1, 2, 32, 8), dtype="float32"))
            s = R.call_tir(cls.matmul, (q, k), out_ty=R.Tensor((1, 2, 32, 40), dtype="float32"))
            m = R.call_tir(cls.add, (s, mask), out_ty=R.Tensor((1, 2, 32, 40), dtype="float32"))
            p = R.call_tir(cls.softmax, (m,), out_ty=R.Tensor((1, 2, 32, 40), dtype="float32"))
            o = R.call_tir(cls.matmul1, (p, v), out_ty=R.Tensor((1, 2, 32, 8), dtype="float32"))
            gv = R.call_tir(cls.transpose1, (o,), out_ty=R.Tensor((1, 32, 2, 8), dtype="float32"))
            R.output(gv)
        return gv
# ----- expected
# as before: add, matmul, matmul1, softmax, transpose, transpose1
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function(private=True)
    def fused_matmul_add(q: R.Tensor((1, 2, 32, 8), dtype="float32"), k: R.Tensor((1, 2, 8, 40), dtype="float32"), mask: R.Tensor((1, 1, 1, 40), dtype="float32")) -> R.Tensor((1, 2, 32, 40), dtype="float32"):
        R.func_attr({"Primitive": True})
        cls = Module
        with R.dataflow():
            s = R.call_tir(cls.matmul, (q, k), out_ty=R.Tensor((1, 2, 32, 40), dtype="float32"))
            m = R.call_tir(cls.add, (s, mask), out_ty=R.Tensor((1, 2, 32, 40), dtype="float32"))
            R.output(m)
        return m

    @R.function(private=True)
    def fused_transpose_matmul_add_softmax_matmul1_transpose1(x: R.Tensor((1, 32, 2, 8), dtype="float32"), k: R.Tensor((1, 2, 8, 40), dtype="float32"), mask: R.Tensor((1, 1, 1, 40), dtype="float32"), v: R.Tensor((1, 2, 40, 8), dtype="float32")) -> R.Tensor((1, 32, 2, 8), dtype="float32"):
        R.func_attr({"Primitive": True})
        cls = Module
        with R.dataflow():
            q = R.call_tir(cls.transpose, (x,), out_ty=R.Tensor((1, 2, 32, 8), dtype="float32"))
            s = R.call_tir(cls.matmul, (q, k), out_ty=R.Tensor((1, 2, 32, 40), dtype="float32"))
            m = R.call_tir(cls.add, (s, mask), out_ty=R.Tensor((1, 2, 32, 40), dtype="float32"))
            p = R.call_tir(cls.softmax, (m,), out_ty=R.Tensor((1, 2, 32, 40), dtype="float32"))
            o = R.call_tir(cls.matmul1, (p, v), out_ty=R.Tensor((1, 2, 32, 8), dtype="float32"))
            gv = R.call_tir(cls.transpose1, (o,), out_ty=R.Tensor((1, 32, 2, 8), dtype="float32"))
            R.output(gv)
        return gv

    @R.function
    def main(x: R.Tensor((1, 32, 2, 8), dtype="float32"), k: R.Tensor((1, 2, 8, 40), dtype="float32"), v: R.Tensor((1, 2, 40, 8), dtype="float32"), mask: R.Tensor((1, 1, 1, 40), dtype="float32")) -> R.Tensor((1, 32, 2, 8), dtype="float32"):
        cls = Module
        with R.dataflow():
            gv: R.Tensor((1, 32, 2, 8), dtype="float32") = cls.fused_transpose_matmul_add_softmax_matmul1_transpose1(x, k, mask, v)
            R.output(gv)
        return gv
