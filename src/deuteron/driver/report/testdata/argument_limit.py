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
# argument_limit.py: 2 operators in 2 kernels; 0 of 1 edge fused
# moved by kernels: 3.00 KiB before fusion, 3.00 KiB after (0% less); arithmetic: 256
#
# saved    before     after  flop  ops  kernel    nodes
#   0 B  1.50 KiB  1.50 KiB   128    1  add       a
#   0 B  1.50 KiB  1.50 KiB   128    1  multiply  gv
#
# Not fused: 1 edge
#
# argument-limit (1)
#   The kernel would take more arguments than relax.FuseOps.max_function_args allows.
#   To fuse: Raise --config relax.FuseOps.max_function_args from 3 to 4.
#   a (add) → gv (multiply)
