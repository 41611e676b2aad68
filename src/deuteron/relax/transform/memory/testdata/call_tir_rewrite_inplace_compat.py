# run: RemovePurityChecking,CallTIRRewrite
# config: tvm_compat=true
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def increment(x: T.Buffer((T.int64(4),), "float32")):
        for i in range(T.int64(4)):
            x[i] = x[i] + T.float32(1.0)

    @R.function
    def main(x: R.Tensor((4,), "float32")):
        cls = Module
        with R.dataflow():
            gv = R.call_tir_inplace(cls.increment, (x,), inplace_indices=[0], out_ty=R.Tensor((4,), "float32"))
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
    def increment(x: T.Buffer((T.int64(4),), "float32")):
        # with T.sblock("root"):
        for i in range(T.int64(4)):
            x[i] = x[i] + T.float32(1.0)

    @R.function
    def main(x: R.Tensor((4,), dtype="float32")) -> R.Tensor((4,), dtype="float32"):
        R.func_attr({"relax.force_pure": True})
        cls = Module
        cls.increment(x)
        gv: R.Tensor((4,), dtype="float32") = x
        return gv
