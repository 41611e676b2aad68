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
# fused.py: 3 operators in 1 kernel; 2 of 2 edges fused
# moved by kernels: 3.50 KiB before fusion, 1.50 KiB after (57% less); arithmetic: 1.54 k
#
#    saved    before     after    flop  ops  kernel                  nodes
# 2.00 KiB  3.50 KiB  1.50 KiB  1.54 k    3  fused_add_relu_tir_exp  a, b, gv
#
# Every edge is fused.
