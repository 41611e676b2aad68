# run:
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def kernel(A: T.Buffer((T.int64(8), T.int64(16)), "float32"), B: T.Buffer((T.int64(8),), "float32")):
        for i in T.vectorized(T.int64(8)):
            B[i] = T.if_then_else(i >= T.int64(1), B[i - T.int64(1)], T.float32(0.0)) + A[i, T.int64(0)]
# ----- expected
# ModelError: the module is not well formed:
#   function "kernel": block "root": race: iterations of the vectorized loop i share elements of B: one writes B[i], another reads B[i - 1]: element [0] at i = 0 and at i = 1
