/// \file
/// What the samples share: printing, and tensors with contents that are the same everywhere.
#pragma once

#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "deuteron/ir/module.h"
#include "deuteron/relax/expr.h"
#include "deuteron/runtime/tensor.h"
#include "deuteron/script/printer.h"

namespace samples {

inline void Title(const std::string& title) { std::printf("# ===== %s\n", title.c_str()); }

/// Prints a module or a function. The data of large constants is left out.
inline void Show(const std::string& title, const deuteron::ObjectRef& node) {
  Title(title);
  std::printf("%s\n", deuteron::script::Print(node, {.header = false, .elide_constants_over = 16}).c_str());
}

/// Prints the graph-level functions of a module only.
inline void ShowGraph(const std::string& title, deuteron::IRModule module) {
  std::vector<deuteron::GlobalVar> kernels;
  for (const auto& [var, func] : module->functions) {
    if (!func->IsInstance<deuteron::relax::FunctionNode>()) kernels.push_back(var);
  }
  for (const deuteron::GlobalVar& var : kernels) module.Remove(var);
  Show(title, module);
}

/// A float32 tensor of small numbers that depend on `seed`, the same on every machine.
inline deuteron::Tensor Numbers(const std::vector<int64_t>& shape, int64_t seed) {
  const deuteron::Tensor tensor = deuteron::runtime::AllocTensor(shape, deuteron::DataType::Float(32));
  auto* data = static_cast<float*>(tensor.data_ptr());
  for (int64_t i = 0; i < tensor.numel(); ++i) data[i] = static_cast<float>((i * 37 + seed * 11) % 61 - 30) / 64.0F;
  return tensor;
}

/// Whether two float32 tensors agree to `tolerance` of the greatest value.
inline bool Agree(const deuteron::Tensor& a, const deuteron::Tensor& b, float tolerance) {
  if (a.numel() != b.numel()) return false;
  const auto* x = static_cast<const float*>(a.data_ptr());
  const auto* y = static_cast<const float*>(b.data_ptr());
  float greatest = 0;
  float difference = 0;
  for (int64_t i = 0; i < a.numel(); ++i) {
    greatest = std::fmax(greatest, std::fabs(x[i]));
    difference = std::fmax(difference, std::fabs(x[i] - y[i]));
  }
  return difference <= tolerance * greatest;
}

}  // namespace samples
