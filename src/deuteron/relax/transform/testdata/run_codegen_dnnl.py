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
# UnsupportedError: function fused_mm_relu_dnnl is for the back end "dnnl", which cannot run here: libdeuteron_dnnl.so is not installed: it lies neither beside the runtime library nor in the library path; compile with --backend none
