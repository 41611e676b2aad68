#include "deuteron/backend/cublas/product_shape.h"

#include <algorithm>

namespace deuteron::backend::cublas {
namespace {

/// The axes of a batch from the last to the first, as far as both operands step evenly through them.
class Batches {
 public:
  Batches(std::vector<int64_t> lhs, std::vector<int64_t> rhs) : lhs_(std::move(lhs)), rhs_(std::move(rhs)) {
    const size_t rank = std::max(lhs_.size(), rhs_.size());
    lhs_.insert(lhs_.begin(), rank - lhs_.size(), 1);
    rhs_.insert(rhs_.begin(), rank - rhs_.size(), 1);
  }

  bool Fit() const {
    for (size_t i = 0; i < lhs_.size(); ++i) {
      if (lhs_[i] != rhs_[i] && lhs_[i] != 1 && rhs_[i] != 1) return false;
    }
    return true;
  }
  std::vector<int64_t> Shape() const {
    std::vector<int64_t> shape(lhs_.size());
    for (size_t i = 0; i < shape.size(); ++i) shape[i] = lhs_[i] == 1 ? rhs_[i] : lhs_[i];
    return shape;
  }
  int64_t NumRight() const { return Product(rhs_, 0); }

  /// Fills in the calls: the last axes through which both operands go in steps of one matrix or of none are one
  /// call, those before are a loop.
  void Split(ProductShape* product) const {
    const std::vector<int64_t> shape = Shape();
    // 1: the operand has the axis, 0: it is broadcast along it; axes of extent 1 are either.
    int lhs_steps = -1, rhs_steps = -1;
    size_t first = shape.size();
    while (first > 0 && Agrees(lhs_[first - 1], shape[first - 1], &lhs_steps) &&
           Agrees(rhs_[first - 1], shape[first - 1], &rhs_steps)) {
      --first;
    }
    product->batch = Product(shape, first);
    const int64_t lhs_size = product->m * product->k, rhs_size = product->k * product->n,
                  out_size = product->m * product->n;
    product->lhs_stride = lhs_steps == 1 ? lhs_size : 0;
    product->rhs_stride = rhs_steps == 1 ? rhs_size : 0;
    product->out_stride = out_size;
    const int64_t calls = Product(shape, 0) / std::max<int64_t>(product->batch, 1);
    for (int64_t call = 0; call < calls; ++call) {
      int64_t rest = call, lhs = 0, rhs = 0;
      int64_t lhs_step = Product(lhs_, first), rhs_step = Product(rhs_, first);
      for (size_t i = first; i-- > 0;) {
        const int64_t index = rest % shape[i];
        rest /= shape[i];
        if (lhs_[i] != 1) lhs += index * lhs_step;
        if (rhs_[i] != 1) rhs += index * rhs_step;
        lhs_step *= lhs_[i];
        rhs_step *= rhs_[i];
      }
      product->starts.push_back({lhs * lhs_size, rhs * rhs_size, call * product->batch * out_size});
    }
  }

 private:
  static int64_t Product(const std::vector<int64_t>& dims, size_t first) {
    int64_t product = 1;
    for (size_t i = first; i < dims.size(); ++i) product *= dims[i];
    return product;
  }
  static bool Agrees(int64_t extent, int64_t of, int* steps) {
    if (of == 1) return true;
    const int found = extent == 1 ? 0 : 1;
    if (*steps >= 0 && *steps != found) return false;
    *steps = found;
    return true;
  }

  std::vector<int64_t> lhs_, rhs_;
};

}  // namespace

std::optional<ProductShape> ShapeOfProduct(std::span<const int64_t> lhs, std::span<const int64_t> rhs, bool transposed,
                                           std::string* problem) {
  if (lhs.empty() || rhs.empty()) {
    *problem = "an operand is a scalar";
    return std::nullopt;
  }
  const bool row = lhs.size() == 1, column = rhs.size() == 1;
  ProductShape product;
  product.k = lhs.back();
  product.m = row ? 1 : lhs[lhs.size() - 2];
  product.n = column ? 1 : rhs[rhs.size() - (transposed ? 2 : 1)];
  const int64_t inner = column ? rhs[0] : rhs[rhs.size() - (transposed ? 1 : 2)];
  const Batches batches({lhs.begin(), row ? lhs.begin() : lhs.end() - 2},
                        {rhs.begin(), column ? rhs.begin() : rhs.end() - 2});
  if (inner != product.k || !batches.Fit()) {
    *problem = inner != product.k ? "the inner dimensions differ" : "the batches do not broadcast";
    return std::nullopt;
  }
  product.shape = batches.Shape();
  if (!row) product.shape.push_back(product.m);
  if (!column) product.shape.push_back(product.n);
  if (batches.NumRight() == 1) {
    for (size_t i = 0; i + 2 < lhs.size(); ++i) product.m *= lhs[i];
    product.out_stride = product.m * product.n;
    product.starts = {{}};
    return product;
  }
  batches.Split(&product);
  return product;
}

}  // namespace deuteron::backend::cublas
