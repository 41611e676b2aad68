#include "deuteron/driver/check_limits.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "deuteron/relax/analysis/kernel_cost.h"
#include "deuteron/relax/call_tir.h"
#include "deuteron/relax/rewrite/pass_utils.h"
#include "deuteron/support/limits.h"
#include "deuteron/tir/analysis/cost.h"

namespace deuteron {
namespace {

/// What is not known counts once.
constexpr int64_t kOnce = 1;

void ForEachTensor(const Type& type, const std::function<void(const TensorTypeNode&)>& visit) {
  if (const auto* tensor = type.as<TensorTypeNode>()) {
    visit(*tensor);
  } else if (const auto* tuple = type.as<TupleTypeNode>()) {
    for (const Type& field : tuple->fields) ForEachTensor(field, visit);
  }
}

double Elements(const TensorTypeNode& tensor) {
  return tensor.has_shape() ? tir::AssumedProduct(*tensor.shape, kOnce) : 0;
}

double Bytes(const Type& type) {
  double bytes = 0;
  ForEachTensor(type, [&](const TensorTypeNode& tensor) {
    if (!tensor.dtype.is_void()) bytes += Elements(tensor) * tensor.dtype.bytes();
  });
  return bytes;
}

void CheckExtents(const Type& type, const std::function<std::string()>& name) {
  ForEachTensor(type, [&](const TensorTypeNode& tensor) {
    if (!tensor.has_shape()) return;
    const Limits& limits = CurrentLimits();
    double elements = 1;
    for (const PrimExpr& dim : *tensor.shape) {
      const int64_t extent = AsConstInt(dim).value_or(1);
      if (extent > limits.extent) CheckLimit(&Limits::extent, static_cast<double>(extent), name());
      elements *= static_cast<double>(std::max<int64_t>(extent, 1));
    }
    if (elements > static_cast<double>(limits.elements)) CheckLimit(&Limits::elements, elements, name());
  });
}

/// A sum, and what is the most of it.
class Sum {
 public:
  void Add(double amount, const std::function<std::string()>& name) {
    total_ += amount;
    if (amount <= most_) return;
    most_ = amount;
    name_ = name();
  }
  void Check(int64_t Limits::*limit) const {
    CheckLimit(limit, total_, name_.empty() ? "a run" : "a run, most of it for " + name_);
  }

 private:
  double total_ = 0;
  double most_ = 0;
  std::string name_;
};

}  // namespace

int64_t CountBindings(const IRModule& module) {
  int64_t count = 0;
  relax::ForEachBinding(module, [&](const relax::Binding&) { ++count; });
  return count;
}

void CheckGraph(const IRModule& module) {
  for (const auto& [var, func] : module->functions) {
    const auto function = As<relax::Function>(func);
    if (!function.defined()) continue;
    for (const relax::Var& param : function->params) {
      CheckExtents(param.ty(), [&] { return "parameter '" + std::string(param->name_hint) + "'"; });
    }
  }
  Sum ops;
  relax::ForEachBinding(module, [&](const relax::Binding& binding) {
    const auto name = [&] { return relax::NameOf(binding); };
    const Type& type = binding->var.ty();
    CheckExtents(type, name);
    const auto* call = relax::BoundValue(binding).as<relax::CallNode>();
    if (call == nullptr) return;
    double elements = 0;
    ForEachTensor(type, [&](const TensorTypeNode& tensor) { elements += Elements(tensor); });
    ops.Add(std::max(elements, relax::OpsOfProduct(GetRef<relax::Call>(call), kOnce)), name);
  });
  ops.Check(&Limits::operations);
}

void CheckKernels(const IRModule& module) {
  Sum ops;
  relax::ForEachBinding(module, [&](const relax::Binding& binding) {
    const relax::Expr& value = relax::BoundValue(binding);
    if (!relax::IsAnyCallTIR(value)) return;
    const auto function = As<tir::PrimFunc>(module.Lookup(relax::ViewCallTIR(Downcast<relax::Call>(value)).func));
    if (function.defined()) ops.Add(tir::KnownWork(function), [&] { return relax::NameOf(binding); });
  });
  ops.Check(&Limits::operations);
}

void CheckPlan(const IRModule& module) {
  Sum bytes;
  relax::ForEachBinding(module, [&](const relax::Binding& binding) {
    const auto* call = relax::BoundValue(binding).as<relax::CallNode>();
    const auto* op = call == nullptr ? nullptr : call->op.as<OpNode>();
    if (op == nullptr) return;
    if (op->name == "relax.builtin.alloc_tensor") {
      bytes.Add(Bytes(binding->var.ty()), [&] { return relax::NameOf(binding); });
    } else if (op->name == "relax.memory.alloc_storage") {
      const auto* shape = call->args[0].as<relax::ShapeExprNode>();
      if (shape == nullptr) return;
      bytes.Add(tir::AssumedProduct(shape->values, kOnce), [] { return "intermediates"; });
    }
  });
  bytes.Check(&Limits::run_bytes);
}

}  // namespace deuteron
