# explain: AnnotateTIROpPattern,FuseOps,FuseTIR,DeadCodeElimination
# config: tvm_compat=true
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tuple(R.Tuple(R.Tensor((8, 16), "float32"), R.Tensor((8, 16), "float32")), R.Tensor((8, 16), "float32"))):
        with R.dataflow():
            a = x[0]
            gv = a[1]
            R.output(gv)
        return gv
# ----- expected
