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
# outside_dataflow.py: 4 operators in 3 kernels; 1 of 3 edges fused
# moved by kernels: 4.00 KiB before fusion, 3.00 KiB after (25% less); arithmetic: 5.12 k
#
#    saved    before     after    flop  ops  kernel                   nodes
# 1.00 KiB  2.00 KiB  1.00 KiB  2.56 k    2  fused_tir_tanh_tir_sqrt  b, gv
#      0 B  1.00 KiB  1.00 KiB  1.28 k    1  tir_exp                  a
#      0 B  1.00 KiB  1.00 KiB  1.28 k    1  tir_exp                  c
#
# Not fused: 2 edges
#
# outside-dataflow (2)
#   One end lies outside of a dataflow block, or in a branch, where order and side effects count.
#   To fuse: Run ConvertToDataflow; calls with side effects stay outside.
#   a (tir_exp) → b (tir_tanh)
#   gv (tir_sqrt) → c (tir_exp)
