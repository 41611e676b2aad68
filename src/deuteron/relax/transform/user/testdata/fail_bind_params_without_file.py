# run: BindParams
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2,), "float32")):
        return x
# ----- expected
# UsageError: BindParams: argument params is missing: a .safetensors file, or a folder of files NAME.npy
