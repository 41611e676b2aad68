# run: FuseOpsByPattern(patterns=["dnnl.relu = relax.nn.rellu(_)"])
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4, 4), "float32")):
        with R.dataflow():
            a = R.nn.relu(x)
            R.output(a)
        return a
# ----- expected
# UsageError: pattern: a pattern names the operator "relax.nn.rellu", which does not exist; did you mean "nn.relu"?
#      relax.nn.rellu(_)
#      ^
