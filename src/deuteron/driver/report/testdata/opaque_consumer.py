# explain: LegalizeOps,AnnotateTIROpPattern,FuseOps,FuseTIR,DeadCodeElimination
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((8, 16), "float32"), i: R.Tensor((4,), "int64")):
        with R.dataflow():
            a = R.exp(x)
            gv = R.take(a, i, axis=0)
            R.output(gv)
        return gv
# ----- expected
# opaque_consumer.py: 2 operators in 2 kernels; 0 of 1 edge fused
# moved by kernels: 1.78 KiB before fusion, 1.78 KiB after (0% less); arithmetic: 1.28 k
#
# saved    before     after    flop  ops  kernel   nodes
#   0 B  1.00 KiB  1.00 KiB  1.28 k    1  tir_exp  a
#   0 B     800 B     800 B       0    1  take     gv
#
# Not fused: 1 edge
#
# opaque-consumer (1)
#   The consumer is opaque: its loops cannot be combined with others.
#   To fuse: Write gv (take) in operators that read at plain indices.
#   a (tir_exp) → gv (take)
