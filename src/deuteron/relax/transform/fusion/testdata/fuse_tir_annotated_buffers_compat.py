# run: FuseTIR
# config: tvm_compat=true
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def dense(x: T.Buffer((T.int64(4), T.int64(8)), "float32"), w: T.Buffer((T.int64(8), T.int64(6)), "float32"), y: T.Buffer((T.int64(4), T.int64(6)), "float32")):
        T.func_attr({"op_pattern": 4})
        t = T.sblock_alloc_buffer((T.int64(6), T.int64(8)))
        for i, j in T.grid(T.int64(6), T.int64(8)):
            with T.sblock("t"):
                vi, vj = T.axis.remap("SS", [i, j])
                T.reads(w[vj, vi])
                T.writes(t[vi, vj])
                t[vi, vj] = w[vj, vi]
        for i, j, k in T.grid(T.int64(4), T.int64(6), T.int64(8)):
            with T.sblock("y"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                T.reads(x[vi, vk], t[vj, vk])
                T.writes(y[vi, vj])
                T.sblock_attr({"layout_free_placeholders": [t, w]})
                with T.init():
                    y[vi, vj] = T.float32(0.0)
                y[vi, vj] = y[vi, vj] + x[vi, vk] * t[vj, vk]

    @T.prim_func(private=True, s_tir=True)
    def relu(lv: T.Buffer((T.int64(4), T.int64(6)), "float32"), compute: T.Buffer((T.int64(4), T.int64(6)), "float32")):
        T.func_attr({"op_pattern": 0, "tirx.noalias": True})
        for i0, i1 in T.grid(T.int64(4), T.int64(6)):
            with T.sblock("compute"):
                v_i0, v_i1 = T.axis.remap("SS", [i0, i1])
                T.reads(lv[v_i0, v_i1])
                T.writes(compute[v_i0, v_i1])
                compute[v_i0, v_i1] = T.max(lv[v_i0, v_i1], T.float32(0.0))

    @R.function(private=True)
    def fused_dense_relu(x: R.Tensor((4, 8), dtype="float32"), w: R.Tensor((8, 6), dtype="float32")) -> R.Tensor((4, 6), dtype="float32"):
        R.func_attr({"Primitive": True})
        cls = Module
        with R.dataflow():
            lv = R.call_tir(cls.dense, (x, w), out_ty=R.Tensor((4, 6), dtype="float32"))
            gv = R.call_tir(cls.relu, (lv,), out_ty=R.Tensor((4, 6), dtype="float32"))
            R.output(gv)
        return gv

    @R.function
    def main(x: R.Tensor((4, 8), dtype="float32"), w: R.Tensor((8, 6), dtype="float32")) -> R.Tensor((4, 6), dtype="float32"):
        cls = Module
        with R.dataflow():
            gv: R.Tensor((4, 6), dtype="float32") = cls.fused_dense_relu(x, w)
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
    def fused_dense_relu(x: T.Buffer((T.int64(4), T.int64(8)), "float32"), w: T.Buffer((T.int64(8), T.int64(6)), "float32"), compute_intermediate: T.Buffer((T.int64(4), T.int64(6)), "float32")):
        T.func_attr({"tirx.noalias": True})
        # with T.sblock("root"):
        t = T.sblock_alloc_buffer((T.int64(6), T.int64(8)))
        y_intermediate = T.sblock_alloc_buffer((T.int64(4), T.int64(6)))
        for i, j in T.grid(T.int64(6), T.int64(8)):
            with T.sblock("t"):
                vi, vj = T.axis.remap("SS", [i, j])
                T.reads(w[vj, vi])
                T.writes(t[vi, vj])
                t[vi, vj] = w[vj, vi]
        for i, j, k in T.grid(T.int64(4), T.int64(6), T.int64(8)):
            with T.sblock("y"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                T.reads(x[vi, vk], t[vj, vk])
                T.writes(y_intermediate[vi, vj])
                t_1 = T.Buffer((T.int64(6), T.int64(8)))
                w_1 = T.Buffer((T.int64(8), T.int64(6)))
                T.sblock_attr({"layout_free_placeholders": [t_1, w_1]})
                with T.init():
                    y_intermediate[vi, vj] = T.float32(0.0)
                y_intermediate[vi, vj] = y_intermediate[vi, vj] + x[vi, vk] * t[vj, vk]
        for i0, i1 in T.grid(T.int64(4), T.int64(6)):
            with T.sblock("compute"):
                v_i0, v_i1 = T.axis.remap("SS", [i0, i1])
                T.reads(y_intermediate[v_i0, v_i1])
                T.writes(compute_intermediate[v_i0, v_i1])
                compute_intermediate[v_i0, v_i1] = T.max(y_intermediate[v_i0, v_i1], T.float32(0.0))

    @R.function
    def main(x: R.Tensor((4, 8), dtype="float32"), w: R.Tensor((8, 6), dtype="float32")) -> R.Tensor((4, 6), dtype="float32"):
        cls = Module
        with R.dataflow():
            gv = R.call_tir(cls.fused_dense_relu, (x, w), out_ty=R.Tensor((4, 6), dtype="float32"))
            R.output(gv)
        return gv
