# explain: LegalizeOps,AnnotateTIROpPattern,FuseOps,FuseTIR,DeadCodeElimination
# config: relax.FuseOps.max_function_args=3
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((8, 16), "float32"), y: R.Tensor((8, 16), "float32"), z: R.Tensor((8, 16), "float32")):
        with R.dataflow():
            a = R.add(x, y)
            gv = R.multiply(a, z)
            R.output(gv)
        return gv
# ----- expected
