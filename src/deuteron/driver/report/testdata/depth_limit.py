# explain: LegalizeOps,AnnotateTIROpPattern,FuseOps,FuseTIR,DeadCodeElimination
# config: relax.FuseOps.max_depth=2
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((8, 16), "float32")):
        with R.dataflow():
            a = R.exp(x)
            b = R.tanh(a)
            c = R.sqrt(b)
            gv = R.exp(c)
            R.output(gv)
        return gv
# ----- expected
