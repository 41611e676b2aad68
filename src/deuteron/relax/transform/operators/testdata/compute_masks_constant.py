# run: ComputeMasks
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def add(s: T.Buffer((T.int64(2), T.int64(8), T.int64(8)), "float32"), m: T.Buffer((T.int64(8), T.int64(8)), "float32"), sum: T.Buffer((T.int64(2), T.int64(8), T.int64(8)), "float32")):
        T.func_attr({"op_pattern": 0, "tirx.noalias": True})
        for b, r, c in T.grid(T.int64(2), T.int64(8), T.int64(8)):
            with T.sblock("sum"):
                v_b, v_r, v_c = T.axis.remap("SSS", [b, r, c])
                T.reads(s[v_b, v_r, v_c], m[v_r, v_c])
                T.writes(sum[v_b, v_r, v_c])
                sum[v_b, v_r, v_c] = s[v_b, v_r, v_c] + m[v_r, v_c]

    @R.function
    def main(s: R.Tensor((2, 8, 8), "float32")):
        cls = Module
        with R.dataflow():
            gv = R.call_tir(cls.add, (s, R.const([[0.0,0.0,-3.0e+38,-3.0e+38,-3.0e+38,-3.0e+38,-3.0e+38,-3.0e+38],[0.0,0.0,0.0,-3.0e+38,-3.0e+38,-3.0e+38,-3.0e+38,-3.0e+38],[0.0,0.0,0.0,0.0,-3.0e+38,-3.0e+38,-3.0e+38,-3.0e+38],[0.0,0.0,0.0,0.0,0.0,-3.0e+38,-3.0e+38,-3.0e+38],[0.0,0.0,0.0,0.0,0.0,0.0,-3.0e+38,-3.0e+38],[0.0,0.0,0.0,0.0,0.0,0.0,0.0,-3.0e+38],[0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0],[0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0]], "float32")), out_ty=R.Tensor((2, 8, 8), dtype="float32"))
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
    def add(s: T.Buffer((T.int64(2), T.int64(8), T.int64(8)), "float32"), m: T.Buffer((T.int64(8), T.int64(8)), "float32"), sum: T.Buffer((T.int64(2), T.int64(8), T.int64(8)), "float32")):
        T.func_attr({"op_pattern": 0, "tirx.noalias": True})
        # with T.sblock("root"):
        for b, r, c in T.grid(T.int64(2), T.int64(8), T.int64(8)):
            with T.sblock("sum"):
                v_b, v_r, v_c = T.axis.remap("SSS", [b, r, c])
                T.reads(s[v_b, v_r, v_c], m[v_r, v_c])
                T.writes(sum[v_b, v_r, v_c])
                sum[v_b, v_r, v_c] = s[v_b, v_r, v_c] + m[v_r, v_c]

    @T.prim_func(private=True, s_tir=True)
    def add_of_indices(s: T.Buffer((T.int64(2), T.int64(8), T.int64(8)), "float32"), sum: T.Buffer((T.int64(2), T.int64(8), T.int64(8)), "float32")):
        T.func_attr({"op_pattern": 0, "tirx.noalias": True})
        # with T.sblock("root"):
        for b, r, c in T.grid(T.int64(2), T.int64(8), T.int64(8)):
            with T.sblock("sum"):
                v_b, v_r, v_c = T.axis.remap("SSS", [b, r, c])
                T.reads(s[v_b, v_r, v_c])
                T.writes(sum[v_b, v_r, v_c])
                sum[v_b, v_r, v_c] = s[v_b, v_r, v_c] + T.Select(v_c - v_r < T.int64(2), T.float32(0.0), T.float32(-3.0000000054977558e+38))

    @R.function
    def main(s: R.Tensor((2, 8, 8), dtype="float32")) -> R.Tensor((2, 8, 8), dtype="float32"):
        cls = Module
        with R.dataflow():
            gv = R.call_tir(cls.add_of_indices, (s,), out_ty=R.Tensor((2, 8, 8), dtype="float32"))
            R.output(gv)
        return gv
