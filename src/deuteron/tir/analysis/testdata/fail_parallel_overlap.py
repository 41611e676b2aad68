# run:
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def kernel(A: T.Buffer((T.int64(8), T.int64(16)), "float32"), B: T.Buffer((T.int64(8),), "float32")):
        for i in T.parallel(T.int64(2)):
            for j in range(T.int64(6)):
                B[i * T.int64(2) + j] = A[i, j]
# ----- expected
# ModelError: the module is not well formed:
#   function "kernel": block "root": race: iterations of the parallel loop i share elements of B: one writes B[i * 2 + j], another writes B[i * 2 + j]: element [2] at i = 0, j = 2 and at i = 1, j = 0
