# run: FuseOpsByPattern(patterns=["dnnl.relu = relax.nn.relu(_)"], entry_functions=[mian])
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4, 4), "float32")):
        with R.dataflow():
            a = R.nn.relu(x)
            R.output(a)
        return a
# ----- expected
# ModelError: the module has no function "mian"; it has: main
