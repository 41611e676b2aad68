# explain: LegalizeOps,AnnotateTIROpPattern,FuseOps(relay_rules=true),DeadCodeElimination
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((8, 16), "float32")):
        with R.dataflow():
            a = R.sum(x, axis=[1], keepdims=True)
            b = R.exp(x)
            gv = (a, b)
            R.output(gv)
        return gv
# ----- expected
