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
# depth_limit.py: 4 operators in 2 kernels; 2 of 3 edges fused
# moved by kernels: 4.00 KiB before fusion, 2.00 KiB after (50% less); arithmetic: 5.12 k
#
#    saved    before     after    flop  ops  kernel                  nodes
# 1.00 KiB  2.00 KiB  1.00 KiB  2.56 k    2  fused_tir_exp_tir_tanh  a, b
# 1.00 KiB  2.00 KiB  1.00 KiB  2.56 k    2  fused_tir_sqrt_tir_exp  c, gv
#
# Not fused: 1 edge
#
# depth-limit (1)
#   The kernel would have more operators than relax.FuseOps.max_depth allows.
#   To fuse: Raise --config relax.FuseOps.max_depth from 2 to 4 or more.
#   b (tir_tanh) → c (tir_sqrt)
