# run:
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def kernel(A: T.Buffer((T.int64(8), T.int64(16)), "float32"), B: T.Buffer((T.int64(8),), "float32")):
        for i in range(T.int64(8)):
            with T.sblock("copy"):
                v_i = T.axis.spatial(T.int64(8), i + T.int64(1))
                T.reads(A[v_i, T.int64(0)])
                T.writes(B[v_i])
                B[v_i] = A[v_i, T.int64(0)]
# ----- expected
# ModelError: the module is not well formed:
#   function "kernel": block "copy": iterator v_i is bound to i + 1 beyond its domain: 8 is outside of [0, 8), at i = 7
#   function "kernel": block "copy": reads A[v_i, 0] out of its bounds: index 8 of axis 0 is outside of [0, 8), at i = 7
#   function "kernel": block "copy": writes B[v_i] out of its bounds: index 8 of axis 0 is outside of [0, 8), at i = 7
