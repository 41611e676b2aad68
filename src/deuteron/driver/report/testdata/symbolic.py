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
# symbolic.py: 2 operators in 1 kernel; 1 of 1 edge fused
# moved by kernels: 256 * n + 64 before fusion, 128 * n + 64 after; arithmetic: 32 * n
#
#   saved        before         after    flop  ops  kernel          nodes
# 128 * n  256 * n + 64  128 * n + 64  32 * n    2  fused_add_relu  a, gv
#
# Every edge is fused.
