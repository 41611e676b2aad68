# explain: LegalizeOps,AnnotateTIROpPattern,FuseOps,FuseTIR,DeadCodeElimination
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((8, 16), "float32")):
        with R.dataflow():
            gv = R.exp(x)
            gv1 = R.tanh(gv)
            R.output(gv, gv1)
        return (gv, gv1)
# ----- expected
# used_outside.py: 2 operators in 2 kernels; 0 of 1 edge fused
# moved by kernels: 2.00 KiB before fusion, 2.00 KiB after (0% less); arithmetic: 2.56 k
#
# saved    before     after    flop  ops  kernel    nodes
#   0 B  1.00 KiB  1.00 KiB  1.28 k    1  tir_exp   gv
#   0 B  1.00 KiB  1.00 KiB  1.28 k    1  tir_tanh  gv1
#
# Not fused: 1 edge
#
# used-outside (1)
#   The value leaves the dataflow block (it is an output of the model), so it has to be stored.
#   To fuse: Drop the output if nobody reads it.
#   gv (tir_exp) → gv1 (tir_tanh)
