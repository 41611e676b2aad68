# explain: LegalizeOps,AnnotateTIROpPattern,FuseOps,FuseTIR,DeadCodeElimination
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n", 16), "float32"), y: R.Tensor((16,), "float32")):
        with R.dataflow():
            a = R.add(x, y)
            gv = R.nn.relu(a)
            R.output(gv)
        return gv
# ----- expected
