/// \file
/// Whether the library is likely to be opened, as far as a model says that no pass has seen yet.
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "deuteron/backend/dnnl/dnnl.h"
#include "deuteron/backend/dnnl/estimate.h"
#include "deuteron/backend/dnnl/making.h"
#include "deuteron/ir/transform/pass.h"
#include "deuteron/relax/analysis/kernel_cost.h"
#include "deuteron/relax/op/manipulate.h"
#include "deuteron/relax/op/nn_attrs.h"
#include "deuteron/relax/op/op_common.h"
#include "deuteron/relax/rewrite/pass_utils.h"
#include "deuteron/target/target.h"
#include "deuteron/tir/analysis/attention_cost.h"
#include "deuteron/tir/analysis/cost.h"

namespace deuteron::backend::dnnl {
namespace {

/// What IsLikely counts of one kernel.
struct Likely {
  /// Of what is made once: what it computes, of which result and weights.
  std::string text;
  /// Seconds on all cores to compile it.
  double generated = 0;
  /// And to compute it, on either side; and bytes of constants that it multiplies by.
  double in_run = 0, weights = 0;
  const void* data = nullptr;
  /// Whether the library has its general product only.
  bool is_general = false;
};

std::optional<Likely> LikelyKernel(const relax::Binding& binding, int64_t runs) {
  static const Op kConvolutions[] = {Op::Get("relax.nn.conv1d"), Op::Get("relax.nn.conv2d"),
                                     Op::Get("relax.nn.conv3d")};
  static const Op kMatmul = Op::Get("relax.matmul"), kNorm = Op::Get("relax.nn.layer_norm"),
                  kSoftmax = Op::Get("relax.nn.softmax");
  const auto* call = relax::BoundValue(binding).as<relax::CallNode>();
  const auto* result = binding->var.ty().as<TensorTypeNode>();
  if (call == nullptr || call->op.as<OpNode>() == nullptr || result == nullptr || !result->has_shape()) return {};
  if (!result->dtype.is_float() || result->dtype == DataType::Float(16) || result->ndim == 0) return {};
  const std::vector<int64_t> dims = DimsOf(binding->var.ty());
  const tir::CostModel costs(Target::Current().machine);
  const double cores = CoresAtWork(costs.machine());
  Likely likely{.text = std::string(call->op.as<OpNode>()->name)};
  const auto add = [&likely](const std::vector<int64_t>& values) {
    for (const int64_t value : values) likely.text += "," + std::to_string(value);
  };
  add(dims);
  if (call->op.same_as(kNorm)) {
    likely.generated = kOfNorm.light / cores;
    return likely;
  }
  if (call->op.same_as(kSoftmax)) {
    // Of scores, it is a part of attention where that is one kernel.
    const bool is_fused = dims.size() > 2 && tir::AttentionPays(costs, relax::AssumedBytes(binding->var.ty()), runs);
    likely.generated = is_fused ? tir::kSecondsOfAttention : kOfOther.light / cores;
    return likely;
  }
  const bool is_product = call->op.same_as(kMatmul);
  const bool is_convolution = relax::IsOneOf(call->op, kConvolutions);
  if (!is_product && !is_convolution) return {};
  const auto* weight = call->args[1].ty().as<TensorTypeNode>();
  if (weight == nullptr || !weight->has_shape()) return {};
  const std::vector<int64_t> of_weight = DimsOf(call->args[1]->ty);
  if (of_weight.size() < (is_product ? 2 : 3)) return {};
  add(of_weight);
  const double depth =
      is_product ? static_cast<double>(of_weight[of_weight.size() - 2]) : Product(of_weight, 1, of_weight.size());
  const double in_run = cores * costs.LeastSeconds(2 * Product(dims, 0, dims.size()) * depth, DataType::Float(32));
  const Making making =
      is_product ? MakingOfProduct(dims)
                 : MakingOfConvolution(of_weight, static_cast<const relax::ConvAttrsNode*>(call->attrs.get())->groups);
  likely.generated = SecondsToCompile(making, /*transforms=*/false, in_run) / cores;
  // What it takes to compute a size that is not known is not known either (EstimateKernel).
  if (IsOpen(binding->var.ty())) {
    likely.generated *= kTimesOfOpen;
  } else {
    likely.in_run = in_run / cores;
  }
  // Of products; of those by a vector the library has another one.
  likely.is_general = is_product && !HasWideVectors() && result->dtype == DataType::Float(32) &&
                      (dims.size() < 2 || dims[dims.size() - 2] > 1);
  if (const auto* constant = call->args[1].as<relax::ConstantNode>()) {
    likely.weights = relax::AssumedBytes(call->args[1]->ty);
    likely.data = constant->data.data_ptr();
  }
  return likely;
}

/// Whether a binding may be a view, or a part of a kernel that the library computes.
bool MayBePart(const relax::Binding& binding) {
  static const Op kParts[] = {Op::Get("relax.shape_of"), Op::Get("relax.add"), Op::Get("relax.nn.relu")};
  const auto* call = relax::BoundValue(binding).as<relax::CallNode>();
  return call == nullptr || relax::OnlyReshapes(call->op) || relax::IsOneOf(call->op, kParts);
}

}  // namespace

bool IsLikely(const IRModule& module) {
  const transform::PassContext& context = transform::PassContext::Current();
  const auto starts = static_cast<double>(context.GetInt("expected_starts"));
  const int64_t runs = context.GetInt("expected_runs");
  std::set<std::string> seen;
  std::set<const void*> packed;
  double generated = 0, library = starts * kSecondsToOpen, common = kSecondsOfProcess;
  bool leaves_kernels = false, has_general = false;
  relax::ForEachBinding(module, [&](const relax::Binding& binding) {
    const std::optional<Likely> kernel = LikelyKernel(binding, runs);
    leaves_kernels |= !kernel && !MayBePart(binding);
    common += kSecondsOfOperator;
    if (!kernel) return;
    common += kernel->in_run;
    has_general |= kernel->is_general;
    generated += kSecondsOfPlace;
    if (kernel->data != nullptr && packed.insert(kernel->data).second) {
      generated += kernel->weights / kPackedBytesPerSecond;
      library += SecondsOfLibraryWeights(kernel->weights, kernel->is_general);
    }
    if (!seen.insert(kernel->text).second) return;
    generated += kernel->generated;
    library += starts * kSecondsOfPrimitive;
  });
  if (has_general) library += starts * EstimateGeneralProduct();
  // Either has to be opened where the library may leave nothing.
  if (!leaves_kernels) generated += kSecondsToOpen;
  return generated + common > kEqualPart * (library + common);
}

}  // namespace deuteron::backend::dnnl
