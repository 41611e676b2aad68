/// \file
/// What a Composite function computes, as one oneDNN kernel: an anchor (convolution, product, pooling, softmax, layer
/// norm) and a chain of post-operations on its result.
#pragma once

#include <optional>
#include <string>

#include "deuteron/backend/dnnl/quantized.h"
#include "deuteron/backend/json/json_serializer.h"

namespace deuteron::backend::dnnl {

/// The kernel of `function`, or nothing and the reason in `why` if oneDNN has none for it. Operand roles are recovered
/// here: inputs are the anchor's operands, the bias if there is one, then one tensor for each binary post-operation,
/// then the scales and zero points that the attribute "quantization" lists. Constants that several functions have are
/// looked up in `constants`.
std::optional<JsonKernel> DescribeComposite(const relax::Function& function, std::string* why,
                                            CentredConstants* constants);

/// The number that a scalar or a constant of one element is.
std::optional<double> ScalarConstant(const relax::Expr& expr);

/// The element-wise function that an expression of several operators spells out: bindings `first` … of a list, as far
/// as they depend on `input`. GELU (by erf or tanh), SiLU and hard-swish are known, in any order of their factors.
struct SpelledOut {
  /// oneDNN's name for it ("gelu").
  std::string algorithm;
  double alpha = 0;
  double beta = 0;
  /// Number of bindings it takes.
  size_t count = 0;
};
std::optional<SpelledOut> MatchSpelledOut(const std::vector<relax::Binding>& bindings, size_t first,
                                          const relax::Var& input);

}  // namespace deuteron::backend::dnnl
