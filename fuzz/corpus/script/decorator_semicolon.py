@I.ir_mod;ule
class Module:
    @R.function
    def main(x: R.Tensor((1, 2), dtype="float32")):
        y = R.add(x, metadata["ir.GenericConst"][0])
        retur
 emnytadata = {"ir.GenericConst": [{"dtype": "float32", "shape": [1, 2], "data": "AACAPwAAAEA="}, {"dtype": "int8", "shape": [3], "data": None}]}
