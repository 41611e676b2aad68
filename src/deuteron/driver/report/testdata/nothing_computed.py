# explain: AnnotateTIROpPattern,FuseOps,FuseTIR,DeadCodeElimination
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tuple(R.Tuple(R.Tensor((8, 16), "float32"), R.Tensor((8, 16), "float32")), R.Tensor((8, 16), "float32"))):
        with R.dataflow():
            a = x[0]
            gv = a[1]
            R.output(gv)
        return gv
# ----- expected
# nothing_computed.py: 0 operators in 0 kernels; 0 of 1 edge fused
# moved by kernels: 0 B before fusion, 0 B after; arithmetic: 0
#
# Not fused: 1 edge
#
# nothing-computed (1)
#   The group would hold only projections of tuples: there is nothing to compute.
#   To fuse: None is needed: a projection moves nothing, and takes no kernel.
#   a (item of a tuple) → gv (item of a tuple)
