# explain: LegalizeOps,AnnotateTIROpPattern,FuseOps,FuseTIR,DeadCodeElimination
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((8, 16), "float32")):
        with R.dataflow():
            a = R.sum(x, axis=[1], keepdims=True)
            gv = R.exp(a)
            R.output(gv)
        return gv
# ----- expected
