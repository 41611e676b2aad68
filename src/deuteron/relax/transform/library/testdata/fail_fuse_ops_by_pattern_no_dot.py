# run: FuseOpsByPattern(patterns=['relu = relax.nn.relu(_)'], annotate_codegen=true)
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4, 4), "float32")):
        with R.dataflow():
            a = R.nn.relu(x)
            R.output(a)
        return a
# ----- expected
# UsageError: FuseOpsByPattern: with annotate_codegen, the name of a pattern begins with that of its code generator and a dot, as in "dnnl.relu"; this one is "relu"
