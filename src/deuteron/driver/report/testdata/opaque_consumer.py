# explain: LegalizeOps,AnnotateTIROpPattern,FuseOps,FuseTIR,DeadCodeElimination
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((8, 16), "float32"), i: R.Tensor((4,), "int64")):
        with R.dataflow():
            a = R.exp(x)
            gv = R.take(a, i, axis=0)
            R.output(gv)
        return gv
# ----- expected
