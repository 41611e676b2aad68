# explain: LegalizeOps,AnnotateTIROpPattern,FuseOps(fuse_opt_level=0),FuseTIR,DeadCodeElimination
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((8, 16), "float32")):
        with R.dataflow():
            a = R.exp(x)
            gv = R.tanh(a)
            R.output(gv)
        return gv
# ----- expected
