#include "deuteron/backend/dnnl/operators.h"

#include <algorithm>

#include "deuteron/backend/dnnl/quantized.h"
#include "deuteron/relax/op/manipulate_attrs.h"
#include "deuteron/relax/op/nn_attrs.h"
#include "deuteron/relax/op/op_common.h"
#include "deuteron/relax/op/statistical.h"
#include "deuteron/target/target.h"

namespace deuteron::backend::dnnl {

using relax::Call;
using Dims = Array<PrimExpr>;

std::vector<int64_t> Padding(const Array<int64_t>& values, size_t rank) {
  std::vector<int64_t> padding(values.begin(), values.end());
  if (padding.size() == 1) padding.assign(2 * rank, padding[0]);
  if (padding.size() == rank) padding.insert(padding.end(), values.begin(), values.end());
  Require(padding.size() == 2 * rank, "a padding of another rank");
  return padding;
}

void RequireFloat(const relax::Expr& expr) {
  const DataType dtype = DTypeOf(expr);
  if (dtype == DataType::Float(32)) return;
  Require(dtype.is_bfloat16(), "a dtype other than float32 and bfloat16");
  Require(Target::Current().HasFeature("avx512bf16"), "bfloat16, which this CPU does not multiply");
}

JsonKernel KernelOf(const char* op, const Array<relax::Expr>& inputs) {
  JsonKernel kernel{{}, {{"op", op}}};
  for (const relax::Expr& input : inputs) {
    RequireFloat(input);
    kernel.inputs.push_back(input);
  }
  return kernel;
}

namespace {

void CheckPoolLayout(const String& layout, size_t rank) {
  static const char* const kData[] = {"NCW", "NCHW", "NCDHW"};
  Require(rank >= 1 && rank <= 3 && std::string(layout) == kData[rank - 1], "a layout other than NCHW");
}

JsonKernel Pool(const Call& call, const std::string& kind, const Dims& result) {
  const auto* attrs = static_cast<const relax::PoolAttrsNode*>(call->attrs.get());
  const size_t rank = result.size() - 2;
  CheckPoolLayout(attrs->layout, rank);
  JsonKernel kernel;
  if (kind == "max" && IsByte(DTypeOf(call->args[0]))) {
    kernel = {{call->args[0]}, {{"op", "pooling"}}};
  } else {
    kernel = KernelOf("pooling", call->args);
  }
  auto& json = kernel.attrs;
  json["kind"] = kind;
  json["window"] = Expanded(attrs->pool_size, rank);
  json["strides"] = Expanded(attrs->strides, rank);
  json["dilation"] = Expanded(attrs->dilation, rank);
  json["padding"] = Padding(attrs->padding, rank);
  json["ceil_mode"] = attrs->ceil_mode;
  json["include_padding"] = attrs->count_include_pad;
  const auto window = Expanded(attrs->pool_size, rank);
  const auto padding = Padding(attrs->padding, rank);
  for (size_t i = 0; i < 2 * rank; ++i) Require(padding[i] < window[i % rank], "a padding as large as the window");
  if (kind == "max") return kernel;
  Require(!attrs->ceil_mode, "an average whose last window is not whole");
  for (const int64_t dilation : Expanded(attrs->dilation, rank))
    Require(dilation == 1, "an average over a dilated window");
  return kernel;
}

JsonKernel GlobalPool(const Call& call, const Dims& result) {
  const auto* attrs = static_cast<const relax::AdaptivePoolAttrsNode*>(call->attrs.get());
  CheckPoolLayout(attrs->layout, result.size() - 2);
  for (size_t i = 2; i < result.size(); ++i) Require(IsUnit(result[i]), "windows of several sizes");
  JsonKernel kernel = KernelOf("pooling", call->args);
  kernel.attrs["kind"] = "avg";
  return kernel;
}

JsonKernel Mean(const Call& call, const Dims& result) {
  const auto* attrs = static_cast<const relax::StatisticalAttrsNode*>(call->attrs.get());
  const size_t rank = result.size();
  Require(attrs->keepdims && attrs->axis.has_value() && rank >= 3 && rank <= 5,
          "a mean that is no global average pool");
  std::vector<int64_t> axes;
  for (const int64_t axis : *attrs->axis) axes.push_back(axis < 0 ? axis + static_cast<int64_t>(rank) : axis);
  std::sort(axes.begin(), axes.end());
  Require(axes.size() == rank - 2, "a mean that is no global average pool");
  for (size_t i = 0; i < axes.size(); ++i)
    Require(axes[i] == static_cast<int64_t>(i + 2), "a mean that is no global average pool");
  JsonKernel kernel = KernelOf("pooling", call->args);
  kernel.attrs["kind"] = "avg";
  return kernel;
}

JsonKernel Softmax(const Call& call, const Dims& result) {
  const int64_t axis = static_cast<const relax::SoftmaxAttrsNode*>(call->attrs.get())->axis;
  JsonKernel kernel = KernelOf("softmax", call->args);
  kernel.attrs["axis"] = axis < 0 ? axis + static_cast<int64_t>(result.size()) : axis;
  return kernel;
}

JsonKernel LayerNorm(const Call& call, const Dims& result) {
  const auto* attrs = static_cast<const relax::LayerNormAttrsNode*>(call->attrs.get());
  Require(attrs->center && attrs->scale && attrs->axes.size() == 1,
          "a layer norm over several axes or without scale and shift");
  const int64_t axis = attrs->axes[0];
  Require(axis == -1 || axis == static_cast<int64_t>(result.size()) - 1,
          "a layer norm over another axis than the last");
  JsonKernel kernel = KernelOf("layer_norm", call->args);
  kernel.attrs["epsilon"] = attrs->epsilon;
  return kernel;
}

/// Of images, along the channels.
JsonKernel Concat(const Call& call, const Dims& result) {
  const auto* tuple = call->args[0].as<relax::TupleNode>();
  const auto axis = static_cast<const relax::ConcatAttrsNode*>(call->attrs.get())->axis;
  Require(tuple != nullptr && axis == 1 && result.size() >= 3 && result.size() <= 5,
          "a concatenation of something else than channels");
  JsonKernel kernel = KernelOf("concat", tuple->fields);
  return kernel;
}

}  // namespace

std::optional<JsonKernel> DescribeOperator(const Call& call, const Dims& result) {
  const std::string op = relax::OpName(call);
  if (op.rfind("nn.max_pool", 0) == 0 || op.rfind("nn.avg_pool", 0) == 0) return Pool(call, op.substr(3, 3), result);
  if (op.rfind("nn.adaptive_avg_pool", 0) == 0) return GlobalPool(call, result);
  if (op == "mean") return Mean(call, result);
  if (op == "nn.softmax") return Softmax(call, result);
  if (op == "nn.layer_norm") return LayerNorm(call, result);
  if (op == "concat") return Concat(call, result);
  return std::nullopt;
}

}  // namespace deuteron::backend::dnnl
