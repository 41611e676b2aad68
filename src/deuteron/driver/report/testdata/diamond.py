# explain: LegalizeOps,AnnotateTIROpPattern,FuseOps,FuseTIR,DeadCodeElimination
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((1, 4, 8, 8), "float32"), w: R.Tensor((4, 4, 3, 3), "float32")):
        with R.dataflow():
            a = R.nn.conv2d(x, w, padding=1)
            b = R.exp(a)
            c = R.nn.relu(a)
            gv = R.add(b, c)
            R.output(gv)
        return gv
# ----- expected
# diamond.py: 4 operators in 1 kernel; 4 of 4 edges fused
# moved by kernels: 9.56 KiB before fusion, 2.56 KiB after (73% less); arithmetic: 21.9 k
#
#    saved    before     after    flop  ops  kernel                         nodes
# 7.00 KiB  9.56 KiB  2.56 KiB  21.9 k    4  fused_conv2d_tir_exp_relu_add  a, b, c, gv
#
# Every edge is fused.
