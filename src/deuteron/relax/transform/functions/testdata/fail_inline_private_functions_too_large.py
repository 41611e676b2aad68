# run: InlinePrivateFunctions
# Each of these functions calls the one before it twice.
@I.ir_module
class Module:
    @R.function(private=True)
    def f0(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        y = R.exp(x)
        return y

    @R.function(private=True)
    def f1(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        cls = Module
        y: R.Tensor((4,), "float32") = cls.f0(x)
        z: R.Tensor((4,), "float32") = cls.f0(y)
        return z

    @R.function(private=True)
    def f2(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        cls = Module
        y: R.Tensor((4,), "float32") = cls.f1(x)
        z: R.Tensor((4,), "float32") = cls.f1(y)
        return z

    @R.function(private=True)
    def f3(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        cls = Module
        y: R.Tensor((4,), "float32") = cls.f2(x)
        z: R.Tensor((4,), "float32") = cls.f2(y)
        return z

    @R.function(private=True)
    def f4(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        cls = Module
        y: R.Tensor((4,), "float32") = cls.f3(x)
        z: R.Tensor((4,), "float32") = cls.f3(y)
        return z

    @R.function(private=True)
    def f5(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        cls = Module
        y: R.Tensor((4,), "float32") = cls.f4(x)
        z: R.Tensor((4,), "float32") = cls.f4(y)
        return z

    @R.function(private=True)
    def f6(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        cls = Module
        y: R.Tensor((4,), "float32") = cls.f5(x)
        z: R.Tensor((4,), "float32") = cls.f5(y)
        return z

    @R.function(private=True)
    def f7(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        cls = Module
        y: R.Tensor((4,), "float32") = cls.f6(x)
        z: R.Tensor((4,), "float32") = cls.f6(y)
        return z

    @R.function(private=True)
    def f8(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        cls = Module
        y: R.Tensor((4,), "float32") = cls.f7(x)
        z: R.Tensor((4,), "float32") = cls.f7(y)
        return z

    @R.function(private=True)
    def f9(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        cls = Module
        y: R.Tensor((4,), "float32") = cls.f8(x)
        z: R.Tensor((4,), "float32") = cls.f8(y)
        return z

    @R.function(private=True)
    def f10(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        cls = Module
        y: R.Tensor((4,), "float32") = cls.f9(x)
        z: R.Tensor((4,), "float32") = cls.f9(y)
        return z

    @R.function(private=True)
    def f11(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        cls = Module
        y: R.Tensor((4,), "float32") = cls.f10(x)
        z: R.Tensor((4,), "float32") = cls.f10(y)
        return z

    @R.function(private=True)
    def f12(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        cls = Module
        y: R.Tensor((4,), "float32") = cls.f11(x)
        z: R.Tensor((4,), "float32") = cls.f11(y)
        return z

    @R.function(private=True)
    def f13(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        cls = Module
        y: R.Tensor((4,), "float32") = cls.f12(x)
        z: R.Tensor((4,), "float32") = cls.f12(y)
        return z

    @R.function(private=True)
    def f14(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        cls = Module
        y: R.Tensor((4,), "float32") = cls.f13(x)
        z: R.Tensor((4,), "float32") = cls.f13(y)
        return z

    @R.function(private=True)
    def f15(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        cls = Module
        y: R.Tensor((4,), "float32") = cls.f14(x)
        z: R.Tensor((4,), "float32") = cls.f14(y)
        return z

    @R.function(private=True)
    def f16(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        cls = Module
        y: R.Tensor((4,), "float32") = cls.f15(x)
        z: R.Tensor((4,), "float32") = cls.f15(y)
        return z

    @R.function(private=True)
    def f17(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        cls = Module
        y: R.Tensor((4,), "float32") = cls.f16(x)
        z: R.Tensor((4,), "float32") = cls.f16(y)
        return z

    @R.function(private=True)
    def f18(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        cls = Module
        y: R.Tensor((4,), "float32") = cls.f17(x)
        z: R.Tensor((4,), "float32") = cls.f17(y)
        return z

    @R.function(private=True)
    def f19(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        cls = Module
        y: R.Tensor((4,), "float32") = cls.f18(x)
        z: R.Tensor((4,), "float32") = cls.f18(y)
        return z

    @R.function(private=True)
    def f20(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        cls = Module
        y: R.Tensor((4,), "float32") = cls.f19(x)
        z: R.Tensor((4,), "float32") = cls.f19(y)
        return z

    @R.function(private=True)
    def f21(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        cls = Module
        y: R.Tensor((4,), "float32") = cls.f20(x)
        z: R.Tensor((4,), "float32") = cls.f20(y)
        return z

    @R.function(private=True)
    def f22(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        cls = Module
        y: R.Tensor((4,), "float32") = cls.f21(x)
        z: R.Tensor((4,), "float32") = cls.f21(y)
        return z

    @R.function(private=True)
    def f23(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        cls = Module
        y: R.Tensor((4,), "float32") = cls.f22(x)
        z: R.Tensor((4,), "float32") = cls.f22(y)
        return z

    @R.function(private=True)
    def f24(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        cls = Module
        y: R.Tensor((4,), "float32") = cls.f23(x)
        z: R.Tensor((4,), "float32") = cls.f23(y)
        return z

    @R.function
    def main(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        cls = Module
        y: R.Tensor((4,), "float32") = cls.f24(x)
        z: R.Tensor((4,), "float32") = cls.f24(y)
        return z
# ----- expected
# UnsupportedError: InlinePrivateFunctions: function "f22" would have more than 16777216 bindings
