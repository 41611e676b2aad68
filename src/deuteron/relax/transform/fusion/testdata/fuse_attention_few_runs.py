# run: LegalizeOps,AnnotateTIROpPattern,FuseOps(fuse_opt_level=2),FuseReductions,FuseAttention
# target: llvm -mcpu=x86-64-v4 -threads=2
# config: expected_runs=1
# expect-remark: FuseAttention p -> o: few-runs
# expect: changes
@I.ir_module
class Module:
    @R.function
    def main(q: R.Tensor((4, 128, 64), "float32"), k: R.Tensor((4, 64, 128), "float32"), v: R.Tensor((4, 128, 64), "float32")):
        with R.dataflow():
            s = R.matmul(q, k)
            p = R.nn.softmax(s, axis=-1)
            o = R.matmul(p, v)
            R.output(o)
        return o
# ----- expected
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def matmul(q: T.Buffer((T.int64(4), T.int64(128), T.int64(64)), "float32"), k: T.Buffer((T.int64(4), T.int64(64), T.int64(128)), "float32"), matmul: T.Buffer((T.int64(4), T.int64(128), T.int64(128)), "float32")):
        T.func_attr({"op_pattern": 4, "tirx.noalias": True})
        # with T.sblock("root"):
        for i0, i1, i2, k_1 in T.grid(T.int64(4), T.int64(128), T.int64(128), T.int64(64)):
            with T.sblock("matmul"):
                v_i0, v_i1, v_i2, v_k = T.axis.remap("SSSR", [i0, i1, i2, k_1])
                T.reads(q[v_i0, v_i1, v_k], k[v_i0, v_k, v_i2])
                T.writes(matmul[v_i0, v_i1, v_i2])
                with T.init():
                    matmul[v_i0, v_i1, v_i2] = T.float32(0.0)
                matmul[v_i0, v_i1, v_i2] = matmul[v_i0, v_i1, v_i2] + q[v_i0, v_i1, v_k] * k[v_i0, v_k, v_i2]

    @T.prim_func(private=True, s_tir=True)
    def matmul1(p: T.Buffer((T.int64(4), T.int64(128), T.int64(128)), "float32"), v: T.Buffer((T.int64(4), T.int64(128), T.int64(64)), "float32"), matmul: T.Buffer((T.int64(4), T.int64(128), T.int64(64)), "float32")):
        T.func_attr({"op_pattern": 4, "tirx.noalias": True})
        # with T.sblock("root"):
        for i0, i1, i2, k in T.grid(T.int64(4), T.int64(128), T.int64(64), T.int64(128)):
            with T.sblock("matmul"):
                v_i0, v_i1, v_i2, v_k = T.axis.remap("SSSR", [i0, i1, i2, k])
                T.reads(p[v_i0, v_i1, v_k], v[v_i0, v_k, v_i2])
                T.writes(matmul[v_i0, v_i1, v_i2])
                with T.init():
                    matmul[v_i0, v_i1, v_i2] = T.float32(0.0)
                matmul[v_i0, v_i1, v_i2] = matmul[v_i0, v_i1, v_i2] + p[v_i0, v_i1, v_k] * v[v_i0, v_k, v_i2]

    @T.prim_func(private=True, s_tir=True)
    def softmax(s: T.Buffer((T.int64(4), T.int64(128), T.int64(128)), "float32"), T_softmax_norm: T.Buffer((T.int64(4), T.int64(128), T.int64(128)), "float32")):
        T.func_attr({"op_pattern": 4, "tirx.noalias": True})
        # with T.sblock("root"):
        T_softmax_maxelem = T.sblock_alloc_buffer((T.int64(4), T.int64(128)))
        T_softmax_exp = T.sblock_alloc_buffer((T.int64(4), T.int64(128), T.int64(128)))
        T_softmax_expsum = T.sblock_alloc_buffer((T.int64(4), T.int64(128)))
        for i0, i1, k in T.grid(T.int64(4), T.int64(128), T.int64(128)):
            with T.sblock("T_softmax_maxelem"):
                v_i0, v_i1, v_k = T.axis.remap("SSR", [i0, i1, k])
                T.reads(s[v_i0, v_i1, v_k])
                T.writes(T_softmax_maxelem[v_i0, v_i1])
                with T.init():
                    T_softmax_maxelem[v_i0, v_i1] = T.float32(-3.4028234663852886e+38)
                T_softmax_maxelem[v_i0, v_i1] = T.max(T_softmax_maxelem[v_i0, v_i1], s[v_i0, v_i1, v_k])
        for i0, i1, i2 in T.grid(T.int64(4), T.int64(128), T.int64(128)):
            with T.sblock("T_softmax_exp"):
                v_i0, v_i1, v_i2 = T.axis.remap("SSS", [i0, i1, i2])
                T.reads(s[v_i0, v_i1, v_i2], T_softmax_maxelem[v_i0, v_i1])
                T.writes(T_softmax_exp[v_i0, v_i1, v_i2])
                T_softmax_exp[v_i0, v_i1, v_i2] = T.exp(s[v_i0, v_i1, v_i2] - T_softmax_maxelem[v_i0, v_i1])
        for i0, i1, k in T.grid(T.int64(4), T.int64(128), T.int64(128)):
            with T.sblock("T_softmax_expsum"):
                v_i0, v_i1, v_k = T.axis.remap("SSR", [i0, i1, k])
                T.reads(T_softmax_exp[v_i0, v_i1, v_k])
                T.writes(T_softmax_expsum[v_i0, v_i1])
                with T.init():
                    T_softmax_expsum[v_i0, v_i1] = T.float32(0.0)
                T_softmax_expsum[v_i0, v_i1] = T_softmax_expsum[v_i0, v_i1] + T_softmax_exp[v_i0, v_i1, v_k]
        for i0, i1, i2 in T.grid(T.int64(4), T.int64(128), T.int64(128)):
            with T.sblock("T_softmax_norm"):
                v_i0, v_i1, v_i2 = T.axis.remap("SSS", [i0, i1, i2])
                T.reads(T_softmax_exp[v_i0, v_i1, v_i2], T_softmax_expsum[v_i0, v_i1])
                T.writes(T_softmax_norm[v_i0, v_i1, v_i2])
                T.sblock_attr({"axis": 2})
                T_softmax_norm[v_i0, v_i1, v_i2] = T_softmax_exp[v_i0, v_i1, v_i2] / T_softmax_expsum[v_i0, v_i1]

    @R.function
    def main(q: R.Tensor((4, 128, 64), dtype="float32"), k: R.Tensor((4, 64, 128), dtype="float32"), v: R.Tensor((4, 128, 64), dtype="float32")) -> R.Tensor((4, 128, 64), dtype="float32"):
        cls = Module
        with R.dataflow():
            s = R.call_tir(cls.matmul, (q, k), out_ty=R.Tensor((4, 128, 128), dtype="float32"))
            p = R.call_tir(cls.softmax, (s,), out_ty=R.Tensor((4, 128, 128), dtype="float32"))
            o = R.call_tir(cls.matmul1, (p, v), out_ty=R.Tensor((4, 128, 64), dtype="float32"))
            R.output(o)
        return o
