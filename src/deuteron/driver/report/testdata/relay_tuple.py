# explain: LegalizeOps,AnnotateTIROpPattern,FuseOps(relay_rules=true),DeadCodeElimination
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((8, 16), "float32")):
        with R.dataflow():
            a = R.sum(x, axis=[1], keepdims=True)
            b = R.exp(x)
            gv = (a, b)
            R.output(gv)
        return gv
# ----- expected
# relay_tuple.py: 2 operators in 2 kernels; 0 of 2 edges fused
# moved by kernels: 1.53 KiB before fusion, 1.53 KiB after (0% less); arithmetic: 1.41 k
#
# saved    before     after    flop  ops  kernel   nodes
#   0 B     544 B     544 B     128    1  sum      a
#   0 B  1.00 KiB  1.00 KiB  1.28 k    1  tir_exp  b
#
# Not fused: 2 edges
#
# not-on-a-fusable-path (2)
#   No phase of fusion applies to this edge.
#   To fuse: Pass the value by itself instead of in a tuple.
#   a (sum) → gv (tuple)
#   b (tir_exp) → gv (tuple)
