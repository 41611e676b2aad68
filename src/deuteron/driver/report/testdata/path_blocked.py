# explain: LegalizeOps,AnnotateTIROpPattern,FuseOps,FuseTIR,DeadCodeElimination
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((8, 16), "float32"), i: R.Tensor((8,), "int64")):
        with R.dataflow():
            a = R.exp(x)
            b = R.take(a, i, axis=0)
            c = R.tanh(a)
            gv = R.add(b, c)
            R.output(gv)
        return gv
# ----- expected
# path_blocked.py: 4 operators in 3 kernels; 1 of 4 edges fused
# moved by kernels: 4.56 KiB before fusion, 3.56 KiB after (22% less); arithmetic: 2.69 k
#
#    saved    before     after    flop  ops  kernel              nodes
# 1.00 KiB  2.50 KiB  1.50 KiB  1.41 k    2  fused_tir_tanh_add  c, gv
#      0 B  1.00 KiB  1.00 KiB  1.28 k    1  tir_exp             a
#      0 B  1.06 KiB  1.06 KiB       0    1  take                b
#
# Not fused: 3 edges
#
# opaque-consumer (1)
#   The consumer is opaque: its loops cannot be combined with others.
#   To fuse: Write b (take) in operators that read at plain indices.
#   a (tir_exp) → b (take)
#
# opaque-producer (1)
#   The producer is opaque: its loops cannot be combined with others.
#   To fuse: Write the producer in operators that read at plain indices.
#   b (take) → gv (add)
#
# path-blocked (1)
#   A parallel path between the two crosses an operator that cannot be part of the kernel.
#   To fuse: Take b (take) off the paths between the value and where its uses meet.
#   a (tir_exp) → c (tir_tanh)   crosses b (take)
