# explain: LegalizeOps,AnnotateTIROpPattern,FuseOps,FuseTIR,DeadCodeElimination
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((8, 16), "float32"), y: R.Tensor((8, 16), "float32")):
        with R.dataflow():
            a = R.add(x, y)
            b = R.nn.relu(a)
            gv = R.exp(b)
            R.output(gv)
        return gv
# ----- expected
