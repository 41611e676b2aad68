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
# fusion_disabled.py: 2 operators in 2 kernels; 0 of 1 edge fused
# moved by kernels: 2.00 KiB before fusion, 2.00 KiB after (0% less); arithmetic: 2.56 k
#
# saved    before     after    flop  ops  kernel    nodes
#   0 B  1.00 KiB  1.00 KiB  1.28 k    1  tir_exp   a
#   0 B  1.00 KiB  1.00 KiB  1.28 k    1  tir_tanh  gv
#
# Not fused: 1 edge
#
# fusion-disabled (1)
#   Fusion is switched off.
#   To fuse: Leave out --no-fuse and --opt-level 0.
#   a (tir_exp) → gv (tir_tanh)
