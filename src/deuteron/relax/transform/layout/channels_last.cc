/// \file
/// ChannelsLast: computes convolutions in NHWC where a matrix unit multiplies their channels.
///
/// Purpose: the unit (AMX) reads rows that are contiguous along what is summed over: the channels of a pixel. In NCHW
/// those are a plane apart, and each convolution would exchange rows and columns of its image before and after. So all
/// convolutions of many channels that PackWeights will pack for the unit get the channels last, and with them the
/// depthwise ones, whose vectors may as well be of channels; what stands between is computed in that layout
/// (layout_converter.h).
///
/// What it must not do: change other convolutions, whose kernels are made for the layout that they have, or a graph in
/// which more convolutions are depthwise than for the unit.
///
/// Place: of the operators that no library has taken, before ConvToWinograd and PackWeights.
#include <algorithm>

#include "deuteron/ir/transform/precision.h"
#include "deuteron/relax/functor.h"
#include "deuteron/relax/op/layout_rules.h"
#include "deuteron/relax/op/nn_attrs.h"
#include "deuteron/relax/transform/layout/layout_converter.h"
#include "deuteron/relax/transform/layout/passes.h"
#include "deuteron/target/target.h"
#include "deuteron/tir/analysis/matrix_unit.h"

namespace deuteron::relax {
namespace {

class Chooser {
 public:
  explicit Chooser(DataType precision)
      : rounds_(precision.is_bfloat16()),
        has_floats_(tir::FindMatrixUnit(Target::Current(), floats_).has_value()),
        has_bytes_(tir::FindMatrixUnit(Target::Current(), bytes_).has_value()) {}

  /// Whether a graph gains.
  bool IsWorth(const IRModule& module) const {
    if (!has_floats_ && !has_bytes_) return false;
    int64_t for_unit = 0, depthwise = 0;
    for (const auto& [var, func] : module->functions) {
      const auto function = As<Function>(func);
      if (!function.defined()) continue;
      PostOrderVisit(function, [&](const Expr& expr) {
        const auto* call = expr.as<CallNode>();
        const auto* attrs = call == nullptr ? nullptr : call->attrs.as<ConvAttrsNode>();
        const auto* kernel = attrs == nullptr ? nullptr : call->args[1].as<ConstantNode>();
        if (kernel == nullptr) return;
        for_unit += IsForUnit(attrs, kernel);
        depthwise += IsDepthwise(attrs, kernel);
      });
    }
    return for_unit > 0 && for_unit >= depthwise;
  }

  LayoutChoice operator()(const Call& call) const {
    const auto* attrs = call->attrs.as<ConvAttrsNode>();
    if (attrs == nullptr) return {};
    const auto* kernel = call->args[1].as<ConstantNode>();
    std::string data(attrs->data_layout), window(attrs->kernel_layout);
    const bool is_plain =
        data.substr(0, 2) == "NC" && window.substr(0, 2) == "OI" && data.substr(2) == window.substr(2);
    if (kernel == nullptr || !is_plain || !(IsForUnit(attrs, kernel) || IsDepthwise(attrs, kernel)))
      return {LayoutsOf(call->attrs), Attrs()};
    data = "N" + data.substr(2) + "C";
    return {{data, window, data}, Attrs()};
  }

 private:
  /// Whether the unit multiplies the channels of the convolution.
  bool IsForUnit(const ConvAttrsNode* attrs, const ConstantNode* kernel) const {
    const auto shape = kernel->data.shape();
    const DataType dtype(kernel->data.dtype());
    const bool is_float = has_floats_ && (dtype.is_bfloat16() || (rounds_ && dtype == DataType::Float(32)));
    const bool is_byte = has_bytes_ && dtype == DataType::Int(32);
    return attrs->groups == 1 && (is_float || is_byte) && tir::FillsStep(is_byte ? bytes_ : floats_, shape[1]);
  }
  static bool IsDepthwise(const ConvAttrsNode* attrs, const ConstantNode* kernel) {
    return attrs->groups > 1 && attrs->groups == kernel->data.shape()[0] && kernel->data.shape()[1] == 1;
  }

  const Op floats_ = Op::Get("tir.dot_bf16x2"), bytes_ = Op::Get("tir.dot_u8i8x4");
  bool rounds_, has_floats_, has_bytes_;
};

}  // namespace

Pass ChannelsLast() {
  return transform::ModulePass({.name = "ChannelsLast"}, [](IRModule module, const transform::PassContext& context) {
    const Chooser chooser(transform::ProductPrecision(context));
    if (!chooser.IsWorth(module)) return module;
    return ConvertLayouts(std::move(module), chooser, "ChannelsLast", context);
  });
}

}  // namespace deuteron::relax
