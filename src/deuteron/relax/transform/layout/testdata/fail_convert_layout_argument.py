# run: ConvertLayout(desired_layouts=[NHWC])
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((1, 4, 8, 8), "float32")):
        return x
# ----- expected
# UsageError: ConvertLayout: argument desired_layouts is a dictionary of lists of names, {a: [b, c]}, not ["NHWC"]
