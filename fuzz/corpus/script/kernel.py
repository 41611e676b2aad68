@T.prim_func(s_tir=True)
def main(A: T.Buffer((16,), "float32"), B: T.Buffer((T.int64(16),), "int8"), a: T.float32, b: T.int32, h: T.handle):
    T.func_attr({"tirx.noalias": True, "m": T.index_map(lambda i, j: (j, i // 4, i % 4))})
    # with T.sblock("root"):
    C = T.sblock_alloc_buffer((3, 4), "int32", scope="local")
    while B[0] < T.int8(3):
        B[0] = B[0] + T.int8(1)
    x: T.int32 = b * 2
    for i in T.thread_binding(4, thread="threadIdx.x"):
        for k in T.vectorized(1, 8, annotations={"pragma": 1}):
            with T.sblock("x"):
                vi = T.axis.spatial(16, i + 1)
                vk = T.axis.reduce((1, 3), k)
                T.where(i < 3)
                T.reads(A[vi:vi + 4])
                T.writes(B[0:4])
                T.sblock_attr({"s": [1, "t"]})
                with T.init():
                    B[vi] = T.int8(0)
                D = T.match_buffer(A[vi:vi + 1], (1,))
                B[vi] = T.Cast("int8", T.Select(vi < 2, D[0], T.exp(A[vi]) ** T.float32(2.0)))
    if a > T.float32(1e300) and not b == -3:
        T.evaluate(T.call_extern("int32", "bar", A.data))
    elif b & 3 << 1 > 0:
        A[0:4] = T.Broadcast(T.Let(y, where={y: a if b > 1 else T.float32("nan")}), 4)
    else:
        assert b == 3, ("RuntimeError", ["boo"])
