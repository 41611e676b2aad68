# run: LegalizeOps,AnnotateTIROpPattern,FuseOps(fuse_opt_level=2),FuseFollowers
# target: llvm -mcpu=x86-64-v4 -threads=2
# expect-remark: FuseFollowers sum -> act: fused
# expect: changes
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((64, 32), "float32"), w: R.Tensor((32, 32), "float32")):
        with R.dataflow():
            product = R.matmul(x, w)
            sum = R.add(product, x)
            act = R.nn.relu(sum)
            next = R.matmul(act, w)
            gv = R.add(next, sum)
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
    def add(product: T.Buffer((T.int64(64), T.int64(32)), "float32"), x: T.Buffer((T.int64(64), T.int64(32)), "float32"), T_add: T.Buffer((T.int64(64), T.int64(32)), "float32")):
        T.func_attr({"op_pattern": 0, "tirx.noalias": True})
        # with T.sblock("root"):
        for ax0, ax1 in T.grid(T.int64(64), T.int64(32)):
            with T.sblock("T_add"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(product[v_ax0, v_ax1], x[v_ax0, v_ax1])
                T.writes(T_add[v_ax0, v_ax1])
                T_add[v_ax0, v_ax1] = product[v_ax0, v_ax1] + x[v_ax0, v_ax1]

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
    def relu(sum: T.Buffer((T.int64(64), T.int64(32)), "float32"), compute: T.Buffer((T.int64(64), T.int64(32)), "float32")):
        T.func_attr({"op_pattern": 0, "tirx.noalias": True})
        # with T.sblock("root"):
        for i0, i1 in T.grid(T.int64(64), T.int64(32)):
            with T.sblock("compute"):
                v_i0, v_i1 = T.axis.remap("SS", [i0, i1])
                T.reads(sum[v_i0, v_i1])
                T.writes(compute[v_i0, v_i1])
                compute[v_i0, v_i1] = T.max(sum[v_i0, v_i1], T.float32(0.0))

    @R.function(private=True)
    def fused_matmul_add(x: R.Tensor((64, 32), dtype="float32"), w: R.Tensor((32, 32), dtype="float32")) -> R.Tensor((64, 32), dtype="float32"):
        R.func_attr({"Primitive": True})
        cls = Module
        with R.dataflow():
            product = R.call_tir(cls.matmul, (x, w), out_ty=R.Tensor((64, 32), dtype="float32"))
            sum = R.call_tir(cls.add, (product, x), out_ty=R.Tensor((64, 32), dtype="float32"))
            R.output(sum)
        return sum

    @R.function(private=True)
    def fused_matmul_add1(act: R.Tensor((64, 32), dtype="float32"), w: R.Tensor((32, 32), dtype="float32"), sum: R.Tensor((64, 32), dtype="float32")) -> R.Tensor((64, 32), dtype="float32"):
        R.func_attr({"Primitive": True})
        cls = Module
        with R.dataflow():
            next = R.call_tir(cls.matmul, (act, w), out_ty=R.Tensor((64, 32), dtype="float32"))
            gv = R.call_tir(cls.add, (next, sum), out_ty=R.Tensor((64, 32), dtype="float32"))
            R.output(gv)
        return gv

    @R.function(private=True)
    def fused_matmul_add_relu(x: R.Tensor((64, 32), dtype="float32"), w: R.Tensor((32, 32), dtype="float32")) -> R.Tuple(R.Tensor((64, 32), dtype="float32"), R.Tensor((64, 32), dtype="float32")):
        R.func_attr({"Primitive": True})
        cls = Module
        with R.dataflow():
            product = R.call_tir(cls.matmul, (x, w), out_ty=R.Tensor((64, 32), dtype="float32"))
            sum = R.call_tir(cls.add, (product, x), out_ty=R.Tensor((64, 32), dtype="float32"))
            act = R.call_tir(cls.relu, (sum,), out_ty=R.Tensor((64, 32), dtype="float32"))
            R.output(sum, act)
        return (act, sum)

    @R.function
    def main(x: R.Tensor((64, 32), dtype="float32"), w: R.Tensor((32, 32), dtype="float32")) -> R.Tensor((64, 32), dtype="float32"):
        cls = Module
        with R.dataflow():
            lv: R.Tuple(R.Tensor((64, 32), dtype="float32"), R.Tensor((64, 32), dtype="float32")) = cls.fused_matmul_add_relu(x, w)
            sum: R.Tensor((64, 32), dtype="float32") = lv[1]
            act: R.Tensor((64, 32), dtype="float32") = lv[0]
            gv: R.Tensor((64, 32), dtype="float32") = cls.fused_matmul_add1(act, w, sum)
            R.output(gv)
        return gv
