# run: FuseOps(fuse_opt_level=2),FuseReductions,FuseAttention
# target: llvm -mcpu=x86-64-v4 -threads=2
# expect-remark: FuseAttention p -> gv: no-attention
# expect: changes
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def log_softmax(s: T.Buffer((T.int64(32), T.int64(40)), "float32"), compute: T.Buffer((T.int64(32), T.int64(40)), "float32")):
        T.func_attr({"op_pattern": 4, "tirx.noalias": True})
        # with T.sblock("root"):
        T_softmax_maxelem = T.sblock_alloc_buffer((T.int64(32),))
        compute_1 = T.sblock_alloc_buffer((T.int64(32),))
        for i0, k in T.grid(T.int64(32), T.int64(40)):
            with T.sblock("T_softmax_maxelem"):
                v_i0, v_k = T.axis.remap("SR", [i0, k])
                T.reads(s[v_i0, v_k])
                T.writes(T_softmax_maxelem[v_i0])
                with T.init():
                    T_softmax_maxelem[v_i0] = T.float32(-3.4028234663852886e+38)
                T_softmax_maxelem[v_i0] = T.max(T_softmax_maxelem[v_i0], s[v_i0, v_k])
        for i0, k in T.grid(T.int64(32), T.int64(40)):
            with T.sblock("compute"):
                v_i0, v_k = T.axis.remap("SR", [i0, k])
                T.reads(s[v_i0, v_k], T_softmax_maxelem[v_i0])
                T.writes(compute_1[v_i0])
                with T.init():
                    compute_1[v_i0] = T.float32(0.0)
                compute_1[v_i0] = compute_1[v_i0] + T.exp(s[v_i0, v_k] - T_softmax_maxelem[v_i0])
        for i0, i1 in T.grid(T.int64(32), T.int64(40)):
            with T.sblock("compute_1"):
                v_i0, v_i1 = T.axis.remap("SS", [i0, i1])
                T.reads(s[v_i0, v_i1], T_softmax_maxelem[v_i0], compute_1[v_i0])
                T.writes(compute[v_i0, v_i1])
                compute[v_i0, v_i1] = s[v_i0, v_i1] - T_softmax_maxelem[v_i0] - T.log(compute_1[v_i0])

    @T.prim_func(private=True, s_tir=True)
    def matmul(q: T.Buffer((T.int64(32), T.int64(8)), "float32"), k: T.Buffer((T.int64(8), T.int64(40)), "float32"), matmul: T.Buffer((T.int64(32), T.int64(40)), "float32")):
        T.func_attr({"op_pattern": 4, "tirx.noalias": True})
        # with T.sblock("root"):
        for i0, i1, k_1 in T.grid(T.int64(32), T.int64(40), T.int64(8)):
            with T.sblock("matmul"):
                v_i0, v_i1, v_k = T.axis.remap("SSR", [i0, i1, k_1])
                T.reads(q[v_i0, v_k], k[v_k, v_i1])
                T.writes(matmul[v_i0, v_i1])
                with T.init():
                    matmul[v_i0, v_i1] = T.float32(0.0)
                matmul[v_i0, v_i1] = matmul[v_i0, v_i1] + q[v_i0, v_k] * k[v_k, v_i1]

    @T.prim_func(private=True, s_tir=True)
    def matmul1(p: T.Buffer((T.int64(32), T.int64(40)), "float32"), v: T.Buffer((T.int64(40), T.int64(8)), "float32"), matmul: T.Buffer((T.int64(32), T.int64(8)), "float32")):
        T.func_attr({"op_pattern": 4, "tirx.noalias": True})
        # with T.sblock("root"):
        for i0, i1, k in T.grid(T.int64(32), T.int64(8), T.int64(40)):
            with T.sblock("matmul"):
                v_i0, v_i1, v_k = T.axis.remap("SSR", [i0, i1, k])
                T.reads(p[v_i0, v_k], v[v_k, v_i1])
                T.writes(matmul[v_i0, v_i1])
                with T.init():
                    matmul[v_i0, v_i1] = T.float32(0.0)
                matmul[v_i0, v_i1] = matmul[v_i0, v_i1] + p[v_i0, v_k] * v[v_k, v_i1]

    @R.function
    def main(q: R.Tensor((32, 8), dtype="float32"), k: R.Tensor((8, 40), dtype="float32"), v: R.Tensor((40, 8), dtype="float32")) -> R.Tensor((32, 8), dtype="float32"):
        cls = Module
        with R.dataflow():
            s = R.call_tir(cls.matmul, (q, k), out_ty=R.Tensor((32, 40), dtype="float32"))
            p = R.call_tir(cls.log_softmax, (s,), out_ty=R.Tensor((32, 40), dtype="float32"))
            gv = R.call_tir(cls.matmul1, (p, v), out_ty=R.Tensor((32, 8), dtype="float32"))
            R.output(gv)
        return gv
# ----- expected
# as before: log_softmax, main, matmul, matmul1
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    pass
