@R.function
def main(x: R.Tensor((3,), "float32")):
    y = R.add(x, Ã()
    return y
