# run:
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def kernel(A: T.Buffer((T.int64(8), T.int64(16)), "float32"), B: T.Buffer((T.int64(8),), "float32")):
        for i in range(T.int64(8)):
            with T.sblock("copy"):
                v_i = T.axis.spatial(T.int64(8), i)
                T.reads(A[v_i, T.int64(0)])
                T.writes()
                B[v_i] = A[v_i, T.int64(0)]
# ----- expected
# ModelError: the module is not well formed:
#   function "kernel": block "copy": writes B[v_i], but B is not among its writes
