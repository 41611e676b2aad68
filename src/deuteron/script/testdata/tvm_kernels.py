# tvm.script import ir as I
# tvm.script import tirx as T
# tvm.tirx.layout import Axis

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def add(A: T.Buffer((16,), "float32"), B: T.Buffer((T.int64(16),), "int8"), a: T.float32, b: T.int32, h: T.handle):
        while B[0] < T.int8(3):
            B[0] = B[0] + T.int8(1)
        x: T.int32 = b * 2
        y: T.int64 = T.int64(3)
        for i in range(1, 10):
            A[i] = T.float32(9.9999999999999995e-08) * a + T.float32(33333333268354826240.0) + T.float32(-0.10000000000000001)
        assert b == 3, ("RuntimeError", ["boo"])
        T.call_packed("foo", A.data, b)
        T.call_extern("int32", "bar", b)
        A[0:4] = T.Broadcast(T.float32(1.0), 4)
        A[1] = T.Cast("float32", b) + T.sqrt(a) + T.erf(a) + T.pow(a, a) + T.min(a, a * T.float32(-1.0)) + T.Cast("float32", T.Div(b, 3)) + T.Cast("float32", b % 3) + T.Cast("float32", b << 1) + T.Cast("float32", b & 3) + T.fabs(a) + T.reinterpret("float32", b)
        with T.attr({"pragma_x": 1}):
            A[2] = T.Let(a, where={a: T.float32(2.0)})
        if a > T.float32(2.0):
            T.evaluate(0)
        A[3] = T.float32("inf")
        B[1] = T.Cast("int8", T.Cast("uint8", T.Cast("int8", T.bool(True))) + T.uint8(3))
        B[2] = T.Cast("int8", T.Cast("float32", T.isnan(a)) + T.sigmoid(a))
        B[3] = T.Cast("int8", T.Cast("int64", -3 - (b - (b + 1)) - b * -1 + b * (b // 3) % 4 + b * (b * 2) - T.Cast("int32", a == a)) + T.int64(2147483648))
        B[4] = T.Cast("int8", b < 3 == (b > 2))
        B[5] = T.Cast("int8", not (b < 3 and b > 3 or b == 4))

    @T.prim_func(s_tir=True)
    def bl(A: T.Buffer((16,), "float32"), B: T.Buffer((16,), "float32"), n: T.int64):
        # with T.sblock("root"):
        for i in range(16):
            with T.sblock("x"):
                vi = T.axis.spatial(16, i)
                vj = T.axis.opaque(3, i + 1)
                vk = T.axis.spatial((1, 3), i)
                T.reads(A[0:16], A[vi:vi + 4])
                T.writes()
                C = T.sblock_alloc_buffer((3, 4), "int32", scope="local")
                B[vi] = A[vi]
        with T.sblock("noiter"):
            T.reads()
            T.writes(B[0:3])
            for i, j in T.grid(3, n):
                for k in T.serial(4, annotations={"a": "b"}):
                    for l in range(k):
                        B[i] = T.float32(3.0)
        with T.sblock(""):
            T.reads()
            T.writes(B[0])
            B[0] = T.float32(1.0)
