# explain: LegalizeOps,AnnotateTIROpPattern,FuseOps,FuseTIR,DeadCodeElimination
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((8, 16), "float32"), w: R.Tensor((16, 16), "float32")):
        with R.dataflow():
            a = R.matmul(x, w)
            b = R.nn.relu(a)
            gv = R.matmul(b, w)
            R.output(gv)
        return gv
# ----- expected
# two_complex.py: 3 operators in 2 kernels; 1 of 2 edges fused
# moved by kernels: 5.00 KiB before fusion, 4.00 KiB after (20% less); arithmetic: 8.32 k
#
#    saved    before     after    flop  ops  kernel             nodes
# 1.00 KiB  3.00 KiB  2.00 KiB  4.22 k    2  fused_matmul_relu  a, b
#      0 B  2.00 KiB  2.00 KiB  4.10 k    1  matmul             gv
#
# Not fused: 1 edge
#
# two-complex-operators (1)
#   Producer and consumer are in kernels with a complex operator each (convolution, product, pooling, softmax, mean), and a kernel holds only one.
#   To fuse: Make the two one operator, as two products in a row are one by the product of their weights; gv (matmul) begins only when the other is complete.
#   b (relu) → gv (matmul)
