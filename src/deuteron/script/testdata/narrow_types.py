# Elements of eight bits and fewer: in types, constants, buffers and casts.
@I.ir_module
class Module:
    @T.prim_func
    def unpack(A: T.Buffer((T.int64(8),), "int4"), B: T.Buffer((T.int64(8),), "float8_e4m3fn"), C: T.Buffer((T.int64(8),), "float32")):
        for i in range(T.int64(8)):
            with T.sblock("C"):
                v = T.axis.spatial(T.int64(8), i)
                C[v] = T.Cast("float32", A[v] + T.int4(-3)) + T.Cast("float32", B[v] * T.float8_e4m3fn(0.875))

    @R.function
    def main(x: R.Tensor((8,), "int4"), y: R.Tensor((8,), "float8_e4m3fn"), z: R.Tensor(("n",), "float4_e2m1fn")):
        cls = Module
        a = (R.const(-8, "int4"), R.const(15, "uint4"), R.const(-2, "int2"), R.const(3, "uint2"))
        b = (R.const(448.0, "float8_e4m3fn"), R.const(float("nan"), "float8_e4m3fnuz"), R.const(float("-inf"), "float8_e5m2"), R.const(0.015625, "float8_e5m2fnuz"))
        c = (R.const(0.25, "float8_e8m0fnu"), R.const(-6.0, "float4_e2m1fn"), R.const(0.125, "float8_e3m4"), R.const(3.5, "float8_e4m3b11fnuz"))
        d = R.const([[1, 2, -3]], "int4")
        e = R.call_tir(cls.unpack, (x, y), out_ty=R.Tensor((8,), dtype="float32"))
        f = R.astype(z, dtype="float8_e8m0fnu")
        return (e, f)
