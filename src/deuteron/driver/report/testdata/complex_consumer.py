# explain: LegalizeOps,AnnotateTIROpPattern,FuseOps,FuseTIR,DeadCodeElimination
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((8, 16), "float32"), w: R.Tensor((16, 16), "float32")):
        with R.dataflow():
            a = R.exp(x)
            gv = R.matmul(a, w)
            R.output(gv)
        return gv
# ----- expected
# complex_consumer.py: 2 operators in 2 kernels; 0 of 1 edge fused
# moved by kernels: 3.00 KiB before fusion, 3.00 KiB after (0% less); arithmetic: 5.38 k
#
# saved    before     after    flop  ops  kernel   nodes
#   0 B  1.00 KiB  1.00 KiB  1.28 k    1  tir_exp  a
#   0 B  2.00 KiB  2.00 KiB  4.10 k    1  matmul   gv
#
# Not fused: 1 edge
#
# complex-consumer (1)
#   The consumer is a complex operator (convolution, product, pooling, softmax, mean): it reads its operands many times, and they would be computed as often.
#   To fuse: Let the producer follow the operator before it, or move it behind gv (matmul) where shapes allow.
#   a (tir_exp) → gv (matmul)
