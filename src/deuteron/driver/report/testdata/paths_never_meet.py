# explain: LegalizeOps,AnnotateTIROpPattern,FuseOps,FuseTIR,DeadCodeElimination
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((8, 16), "float32")):
        with R.dataflow():
            a = R.exp(x)
            gv = R.tanh(a)
            gv1 = R.sqrt(a)
            R.output(gv, gv1)
        return (gv, gv1)
# ----- expected
