# run: FuseOps(fuse_opt_level=2),FuseSiblings
# target: llvm -mcpu=x86-64-v4 -threads=2
# expect-remark: FuseSiblings a -> gv: path-through-another (c)
# expect: changes
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def matmul(a: T.Buffer((T.int64(64), T.int64(64)), "float32"), w: T.Buffer((T.int64(64), T.int64(64)), "float32"), matmul: T.Buffer((T.int64(64), T.int64(64)), "float32")):
        T.func_attr({"op_pattern": 4, "tirx.noalias": True})
        for i0, i1, k in T.grid(T.int64(64), T.int64(64), T.int64(64)):
            with T.sblock("matmul"):
                v_i0, v_i1, v_k = T.axis.remap("SSR", [i0, i1, k])
                with T.init():
                    matmul[v_i0, v_i1] = T.float32(0.0)
                matmul[v_i0, v_i1] = matmul[v_i0, v_i1] + a[v_i0, v_k] * w[v_k, v_i1]

    @T.prim_func(private=True, s_tir=True)
    def multiply(x: T.Buffer((T.int64(64), T.int64(64)), "float32"), c: T.Buffer((T.int64(64),), "float32"), T_multiply: T.Buffer((T.int64(64), T.int64(64)), "float32")):
        T.func_attr({"op_pattern": 0, "tirx.noalias": True})
        for ax0, ax1 in T.grid(T.int64(64), T.int64(64)):
            with T.sblock("T_multiply"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T_multiply[v_ax0, v_ax1] = x[v_ax0, v_ax1] * c[v_ax1]

    @T.prim_func(private=True, s_tir=True)
    def sum(b: T.Buffer((T.int64(64), T.int64(64)), "float32"), b_red: T.Buffer((T.int64(64),), "float32")):
        T.func_attr({"op_pattern": 3, "tirx.noalias": True})
        for ax0, k0 in T.grid(T.int64(64), T.int64(64)):
            with T.sblock("b_red"):
                v_ax0, v_k0 = T.axis.remap("SR", [ax0, k0])
                with T.init():
                    b_red[v_ax0] = T.float32(0.0)
                b_red[v_ax0] = b_red[v_ax0] + b[v_k0, v_ax0]

    @T.prim_func(private=True, s_tir=True)
    def tir_exp(x: T.Buffer((T.int64(64), T.int64(64)), "float32"), compute: T.Buffer((T.int64(64), T.int64(64)), "float32")):
        T.func_attr({"op_pattern": 0, "tirx.noalias": True})
        for i0, i1 in T.grid(T.int64(64), T.int64(64)):
            with T.sblock("compute"):
                v_i0, v_i1 = T.axis.remap("SS", [i0, i1])
                compute[v_i0, v_i1] = T.exp(x[v_i0, v_i1])

    @R.function
    def main(x: R.Tensor((64, 64), dtype="float32"), w: R.Tensor((64, 64), dtype="float32")) -> R.Tensor((64, 64), dtype="float32"):
        cls = Module
        with R.dataflow():
            a = R.call_tir(cls.tir_exp, (x,), out_ty=R.Tensor((64, 64), dtype="float32"))
            b = R.call_tir(cls.matmul, (a, w), out_ty=R.Tensor((64, 64), dtype="float32"))
            c = R.call_tir(cls.sum, (b,), out_ty=R.Tensor((64,), dtype="float32"))
            gv = R.call_tir(cls.multiply, (x, c), out_ty=R.Tensor((64, 64), dtype="float32"))
            R.output(gv)
        return gv
# ----- expected
# as before: main, matmul, multiply, sum, tir_exp
# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    pass
