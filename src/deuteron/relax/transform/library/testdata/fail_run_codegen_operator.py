# run: MergeCompositeFunctions,RunCodegen
@I.ir_module
class Module:
    @R.function(private=True)
    def mm(x: R.Tensor((4, 4), "float32"), w: R.Tensor((4, 4), "float32")):
        R.func_attr({"Composite": "dnnl.sin", "Primitive": True})
        with R.dataflow():
            gv = R.sin(x)
            R.output(gv)
        return gv

    @R.function
    def main(x: R.Tensor((4, 4), "float32"), w: R.Tensor((4, 4), "float32")):
        cls = Module
        with R.dataflow():
            gv = cls.mm(x, w)
            R.output(gv)
        return gv
# ----- expected
# UnsupportedError: function fused_mm_dnnl cannot be translated for the back end "dnnl": oneDNN cannot compute dnnl.sin: it holds an operator that oneDNN has no primitive for: sin
