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
            gv = R.call_tir(cls.add, (s, R.const([[0.0,0.0,-3.0e+38,-3.0e+38,-3.0e+38,-3.0e+38,-3.0e+38,-3.0e+38],[0.0,0.0,0.0,-3.0e+38,-3.0e+38,-3.0e+38,-3.0e+38,-3.0e+38],[0.0,0.0,0.0,0.0,-3.0e+38,-3.0e+38,-3.0e+38,-3.0e+38],[0.0,0.0,0.0,0.0,0.0,-3.0e+38,-3.0e+38,-3.0e+38],[0.0,0.0,0.0,0.0,0.0,0.0,-3.0e+38,-3.0e+38],[0.0,0.0,0.0,-3.0e+38,0.0,0.0,0.0,-3.0e+38],[0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0],[0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0]], "float32")), out_ty=R.Tensor((2, 8, 8), dtype="float32"))
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

    @R.function
    def main(s: R.Tensor((2, 8, 8), dtype="float32")) -> R.Tensor((2, 8, 8), dtype="float32"):
        cls = Module
        with R.dataflow():
            gv = R.call_tir(cls.add, (s, metadata["ir.GenericConst"][0]), out_ty=R.Tensor((2, 8, 8), dtype="float32"))
            R.output(gv)
        return gv

metadata = {"ir.GenericConst": [
    {"dtype": "float32", "shape": [8, 8], "data": "AAAAAAAAAADmsWH/5rFh/+axYf/msWH/5rFh/+axYf8AAAAAAAAAAAAAAADmsWH/5rFh/+axYf/msWH/5rFh/wAAAAAAAAAAAAAAAAAAAADmsWH/5rFh/+axYf/msWH/AAAAAAAAAAAAAAAAAAAAAAAAAADmsWH/5rFh/+axYf8AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAADmsWH/5rFh/wAAAAAAAAAAAAAAAOaxYf8AAAAAAAAAAAAAAADmsWH/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=="},
]}
