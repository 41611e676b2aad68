# explain: LegalizeOps,AnnotateTIROpPattern,FuseOps,FuseTIR,DeadCodeElimination
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((8, 16), "float32"), i: R.Tensor((4,), "int64")):
        with R.dataflow():
            a = R.take(x, i, axis=0)
            gv = R.exp(a)
            R.output(gv)
        return gv
# ----- expected
# opaque_producer.py: 2 operators in 2 kernels; 0 of 1 edge fused
# moved by kernels: 1.28 KiB before fusion, 1.28 KiB after (0% less); arithmetic: 640
#
# saved  before  after  flop  ops  kernel   nodes
#   0 B   800 B  800 B     0    1  take     a
#   0 B   512 B  512 B   640    1  tir_exp  gv
#
# Not fused: 1 edge
#
# opaque-producer (1)
#   The producer is opaque: its loops cannot be combined with others.
#   To fuse: Write the producer in operators that read at plain indices.
#   a (take) → gv (tir_exp)
