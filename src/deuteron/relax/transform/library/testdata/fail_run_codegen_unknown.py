# run: MergeCompositeFunctions,RunCodegen
@I.ir_module
class Module:
    @R.function(private=True)
    def mm(x: R.Tensor((4, 4), "float32"), w: R.Tensor((4, 4), "float32")):
        R.func_attr({"Composite": "dnnk.matmul", "Primitive": True})
        with R.dataflow():
            gv = R.matmul(x, w)
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
# UsageError: there is no back end "dnnk"; did you mean "dnnl"?; the back ends are: dnnl, csource, cublas, cudnn, cutlass
