# explain: LegalizeOps,AnnotateTIROpPattern,FuseOps,FuseTIR,DeadCodeElimination
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((8, 16), "float32")):
        a = R.exp(x)
        with R.dataflow():
            b = R.tanh(a)
            gv = R.sqrt(b)
            R.output(gv)
        c = R.exp(gv)
        return c
# ----- expected
