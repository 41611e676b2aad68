/// \file
/// The network of the samples on patterns and libraries: two products of half floats, a bias and an activation between
/// them.
#pragma once

#include <string>

#include "deuteron/script/parser.h"

namespace samples {

/// The network, whose result is `last`, an expression of lv3: "R.exp(lv3)".
inline deuteron::IRModule TwoProducts(const std::string& last) {
  return deuteron::script::ParseModule(R"(
@I.ir_module
class Network:
    @R.function
    def main(x: R.Tensor((16, 32), "float16"), w: R.Tensor((32, 64), "float16"), bias: R.Tensor((64,), "float16"),
             v: R.Tensor((64, 64), "float16")):
        with R.dataflow():
            lv0 = R.matmul(x, w)
            lv1 = R.add(lv0, bias)
            lv2 = R.nn.relu(lv1)
            lv3 = R.matmul(lv2, v)
            lv4 = )" + last + R"(
            R.output(lv4)
        return lv4
)",
                                       "Network.py");
}

}  // namespace samples
