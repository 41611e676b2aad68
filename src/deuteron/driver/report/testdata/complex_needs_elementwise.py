# explain: LegalizeOps,AnnotateTIROpPattern,FuseOps,FuseTIR,DeadCodeElimination
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((8, 16), "float32"), w: R.Tensor((16, 16), "float32")):
        with R.dataflow():
            a = R.matmul(x, w)
            gv = R.permute_dims(a)
            R.output(gv)
        return gv
# ----- expected
# complex_needs_elementwise.py: 2 operators in 2 kernels; 0 of 1 edge fused
# moved by kernels: 3.00 KiB before fusion, 3.00 KiB after (0% less); arithmetic: 4.10 k
#
# saved    before     after    flop  ops  kernel     nodes
#   0 B  2.00 KiB  2.00 KiB  4.10 k    1  matmul     a
#   0 B  1.00 KiB  1.00 KiB       0    1  transpose  gv
#
# Not fused: 1 edge
#
# complex-needs-elementwise (1)
#   The producer is in a kernel with a complex operator (convolution, product, pooling, softmax, mean), which accepts only elementwise followers, and one on the way is not.
#   To fuse: Make gv (transpose) elementwise (it rearranges Tensor((8, 16), "float32") to Tensor((16, 8), "float32")): equal shapes, no transposition or reduction, a bias along one axis.
#   a (matmul) → gv (transpose)
