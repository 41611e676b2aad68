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
# UnsupportedError: function fused_mm_dnnl is for the back end "dnnl", which cannot run here: libdeuteron_dnnl.so is not installed: it lies neither beside the runtime library nor in the library path; compile with --backend none
