/// \file
/// A product with broadcast batches as products that a library computes in one call each. Plain integers: no CUDA, so
/// that it is tested everywhere.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace deuteron::backend::cublas {

/// One call: `batch` row-major products of (m, k) by (k, n), the matrices of an operand a stride apart, in elements. A
/// stride of 0 uses one matrix for all.
struct ProductShape {
  int64_t m = 1, n = 1, k = 1;
  int64_t batch = 1;
  int64_t lhs_stride = 0, rhs_stride = 0, out_stride = 0;
  /// Where each call begins, in elements of lhs, rhs and result. One, unless batches broadcast in turns.
  struct Start {
    int64_t lhs = 0, rhs = 0, out = 0;
  };
  std::vector<Start> starts;
  std::vector<int64_t> shape;
};

/// numpy's matmul of operands of these shapes; `transposed`: the right one is (…, n, k). Rows of a left operand with
/// one right matrix become rows of one product. Nothing, and why in `problem`, if they do not fit.
std::optional<ProductShape> ShapeOfProduct(std::span<const int64_t> lhs, std::span<const int64_t> rhs, bool transposed,
                                           std::string* problem);

}  // namespace deuteron::backend::cublas
