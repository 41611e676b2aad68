# run: LegalizeOps,AnnotateTIROpPattern,FuseOps(fuse_opt_level=2),FuseFollowers
# target: llvm -mcpu=x86-64-v4 -threads=2
# expect: changes
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((64, 32), "float32"), w: R.Tensor((32, 32), "float32")):
        with R.dataflow():
            sum = R.matmul(x, w)
            turned = R.permute_dims(sum)
            next = R.matmul(turned, x)
            gv = R.matmul(sum, next)
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
    def matmul(x: T.Buffer((T.int64(64), T.int64(32)), "float32"), w: T.Buffer((T.int64(32), T.int64(32)), "float32"), matmul: T.Buffer((T.int64(64), T.int64(32)), "float32")):
        T.func_attr({"op_pattern": 4, "tirx.noalias": True})
        # with T.sblock("root"):
        for i0, i1, k in T.grid(T.int64(64), T.int64(32), T.int64(32)):
            with T.sblock("matmul"):
                v_i0, v_i1, v_k = T.axis.remap("SSR", [i0, i1, k])
                T.reads(x[v_i0, v_k], w[v_k, v_i1])
                T.writes(matmul[v_i0, v_i1])
                with T.init():
                    matmul[v_i0, v_i1] = T.float32(0.0)
                matmul[v_i0, v_i1] = matmul[v_i0, v_i1] + x[v_i0, v_k] * w[v_k, v_i1]

    @T.prim_func(private=True, s_tir=True)
    def matmul1(turned: T.Buffer((T.int64(32), T.int64(64)), "float32"), x: T.Buffer((T.int64(64), T.int64(32)), "float32"), matmul: T.Buffer((T.int64(32), T.int64(32)), "float32")):
        T.func_attr({"op_pattern": 4, "tirx.noalias": True})
        # with T.sblock("root"):
        for i0, i1, k in T.grid(T.int64(32), T.int64(32), T.int64(64)):
            with T.sblock("matmul"):
                v_i0, v_i1, v_k = T.axis.remap("SSR", [i0, i1, k])
                T.reads(turned[v_i0, v_k], x[v_k, v_i1])
                T.writes(matmul[v_i0, v_i1])
                with T.init():
                    matmul[v_i0, v_i1] = T.float32(0.0)
                matmul[v_i0, v_i1] = matmul[v_i0, v_i1] + turned[v_i0, v_k] * x[v_k, v_i1]

    @T.prim_func(private=True, s_tir=True)
    def transpose(sum: T.Buffer((T.int64(64), T.int64(32)), "float32"), T_transpose: T.Buffer((T.int64(32), T.int64(64)), "float32")):
        T.func_attr({"op_pattern": 2, "tirx.noalias": True})
        # with T.sblock("root"):
        for ax0, ax1 in T.grid(T.int64(32), T.int64(64)):
            with T.sblock("T_transpose"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(sum[v_ax1, v_ax0])
                T.writes(T_transpose[v_ax0, v_ax1])
                T_transpose[v_ax0, v_ax1] = sum[v_ax1, v_ax0]

    @R.function
    def main(x: R.Tensor((64, 32), dtype="float32"), w: R.Tensor((32, 32), dtype="float32")) -> R.Tensor((64, 32), dtype="float32"):
        cls = Module
        with R.dataflow():
            sum = R.call_tir(cls.matmul, (x, w), out_ty=R.Tensor((64, 32), dtype="float32"))
            turned = R.call_tir(cls.transpose, (sum,), out_ty=R.Tensor((32, 64), dtype="float32"))
            next = R.call_tir(cls.matmul1, (turned, x), out_ty=R.Tensor((32, 32), dtype="float32"))
            gv = R.call_tir(cls.matmul, (sum, next), out_ty=R.Tensor((64, 32), dtype="float32"))
            R.output(gv)
        return gv
