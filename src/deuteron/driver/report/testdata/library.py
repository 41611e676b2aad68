# explain: PartitionFor(backend=dnnl),MergeCompositeFunctions,RunCodegen,LegalizeOps,AnnotateTIROpPattern,FuseOps,FuseTIR
# What a library computes is reported as its kernels: each composite is one, with its operators and figures.
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n", 16), "float32"), w: R.Tensor((16, 32), "float32"), b: R.Tensor((32,), "float32"), v: R.Tensor((32, 8), "float32")):
        n = T.int64()
        with R.dataflow():
            y = R.matmul(x, w)
            y1 = R.add(y, b)
            y2 = R.nn.relu(y1)
            z = R.matmul(y2, v)
            c = R.cumsum(z, axis=1)
            d = R.exp(c)
            p = R.nn.softmax(d, axis=-1)
            R.output(p)
        return p
# ----- expected
# library.py: 7 operators in 5 kernels; 2 of 6 edges fused
# moved by kernels: 1056 * n + 3200 before fusion, 544 * n + 3200 after; arithmetic: 1855 * n
#
#   saved          before           after      flop  ops  kernel                                      nodes
# 512 * n  704 * n + 2176  192 * n + 2176  1088 * n    3  fused_relax_matmul_relax_add_relax_nn_relu  y, y1, y2
#     0 B  160 * n + 1024  160 * n + 1024   512 * n    1  fused_relax_matmul                          z
#     0 B          64 * n          64 * n     7 * n    1  cumsum                                      c
#     0 B          64 * n          64 * n    80 * n    1  tir_exp                                     d
#     0 B          64 * n          64 * n   168 * n    1  fused_relax_nn_softmax                      p
#
# Not fused: 4 edges
#
# library-boundary (2)
#   A library computes one end and generated code the other: the value is stored between them, in plain layout.
#   z (relax.matmul) → c (cumsum)
#       To fuse: Let one of them compute both: --backend none, or a pattern of the library that takes c (cumsum) too.
#   d (tir_exp) → p (relax.nn.softmax)
#       To fuse: Let one of them compute both: --backend none, or a pattern of the library that takes d (tir_exp) too.
#
# library-kernels (1)
#   Each end is a kernel of the library, which keeps the value in a layout of its own.
#   To fuse: A pattern of the library that takes the operators of both, dnnl.matmul and dnnl.matmul, or --backend none.
#   y2 (relax.nn.relu) → z (relax.matmul)
#
# opaque-producer (1)
#   The producer is opaque: its loops cannot be combined with others.
#   To fuse: Write the producer in operators that read at plain indices.
#   c (cumsum) → d (tir_exp)
