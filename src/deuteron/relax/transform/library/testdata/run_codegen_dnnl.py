# run: MergeCompositeFunctions,RunCodegen
@I.ir_module
class Module:
    @R.function(private=True)
    def mm(x: R.Tensor((4, 4), "float32"), w: R.Tensor((4, 4), "float32")):
        R.func_attr({"Composite": "dnnl.matmul", "Primitive": True})
        with R.dataflow():
            gv = R.matmul(x, w)
            R.output(gv)
        return gv

    @R.function(private=True)
    def relu(x: R.Tensor((4, 4), "float32")):
        R.func_attr({"Composite": "dnnl.softmax", "Primitive": True})
        with R.dataflow():
            gv = R.nn.softmax(x)
            R.output(gv)
        return gv

    @R.function(private=True)
    def add(x: R.Tensor((4, 4), "float32"), y: R.Tensor((4, 4), "float32")):
        R.func_attr({"Composite": "dnnl.add", "Primitive": True})
        with R.dataflow():
            gv = R.add(x, y)
            R.output(gv)
        return gv

    @R.function
    def main(x: R.Tensor((4, 4), "float32"), w: R.Tensor((4, 4), "float32")):
        cls = Module
        with R.dataflow():
            a = cls.mm(x, w)
            b = cls.relu(a)
            c = R.exp(b)
            e = cls.mm(c, w)
            d = cls.relu(e)
            gv = R.add(c, d)
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
    I.module_attrs({"external_mods": [{"code": "{\"arg_nodes\":[0,1],\"heads\":[[3,0,0]],\"node_row_ptr\":[0,1,2,3,4],\"nodes\":[{\"attrs\":{\"dtype\":[\"float32\"],\"shape\":[[4,4]]},\"name\":\"x\",\"op\":\"input\"},{\"attrs\":{\"dtype\":[\"float32\"],\"shape\":[[4,4]]},\"name\":\"w\",\"op\":\"input\"},{\"attrs\":{\"bias\":false,\"dtype\":[\"float32\"],\"op\":\"matmul\",\"shape\":[[4,4]],\"transposed\":false},\"inputs\":[[0,0,0],[1,0,0]],\"name\":\"dnnl.matmul\",\"op\":\"kernel\"},{\"attrs\":{\"axis\":1,\"dtype\":[\"float32\"],\"op\":\"softmax\",\"shape\":[[4,4]]},\"inputs\":[[2,0,0]],\"name\":\"dnnl.softmax\",\"op\":\"kernel\"}]}", "constants": [], "plugin": "dnnl", "symbol": "fused_mm_relu_dnnl"}]})
    @R.function
    def main(x: R.Tensor((4, 4), dtype="float32"), w: R.Tensor((4, 4), dtype="float32")) -> R.Tensor((4, 4), dtype="float32"):
        with R.dataflow():
            b = R.call_dps_packed("fused_mm_relu_dnnl", (x, w), out_ty=R.Tensor((4, 4), dtype="float32"))
            c: R.Tensor((4, 4), dtype="float32") = R.exp(b)
            d = R.call_dps_packed("fused_mm_relu_dnnl", (c, w), out_ty=R.Tensor((4, 4), dtype="float32"))
            gv: R.Tensor((4, 4), dtype="float32") = R.add(c, d)
            R.output(gv)
        return gv
