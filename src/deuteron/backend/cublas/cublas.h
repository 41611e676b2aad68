/// \file
/// The compile side of the back end `cublas`.
#pragma once

#include "deuteron/backend/matched_composite.h"
#include "deuteron/ir/transform/pass.h"

namespace deuteron::backend::cublas {

/// Puts what cuBLASLt computes exactly into functions with the attribute Composite, constants inside. Narrower than
/// PartitionForCublas, which takes what TVM's does: see DescribeProduct.
transform::Pass Partition();
/// Translates a function with the attribute Codegen = "cublas" into a graph for the plugin.
relax::ExternalFunction Generate(const relax::CodegenRequest& request);

/// A match as one cuBLASLt product: inputs lhs, rhs, then bias or the two scales; attributes
///
///     transposed  bool   the right operand is stored (…, n, k)
///     bias        bool   a vector of one value a column, the third input
///     activation  ""|"relu"|"gelu"
///     alpha       float  what the product is multiplied with
///     scales      bool   two more factors, the last two inputs
///
/// Refused, though the patterns take it: combinations of dtypes that cuBLASLt has no kernel for (results of 8-bit
/// integers, scaled integer products), GELU of more than 16 bits (cuBLASLt approximates it by tanh, 5e-4 off), a
/// transposition of other axes than the last two, a bias that is not one value a column.
JsonKernel DescribeProduct(const MatchedComposite& composite);

}  // namespace deuteron::backend::cublas
