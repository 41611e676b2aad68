/// \file
/// In what type constant weights are held that generated code reads (the configuration key `precision`).
#pragma once

#include <map>
#include <optional>

#include "deuteron/ir/dtype.h"
#include "deuteron/ir/module.h"
#include "deuteron/ir/transform/pass.h"
#include "deuteron/relax/expr.h"

namespace deuteron::relax {

/// Rounds weights of float32 to the narrower type that is allowed where less time is saved by reading half as many
/// bytes than is spent on widening them in registers. That is where each is multiplied with few rows: a weight is
/// widened once for every tile of rows. The CPU's own products of narrow types are left to libraries.
class WeightPrecision {
 public:
  /// Of the weights of `module`, all of which a run reads.
  WeightPrecision(const IRModule& module, const transform::PassContext& context);

  /// `weight` as it is to be held. `rows`: with how many elements each of it is multiplied in a run; nothing where the
  /// run tells: then it is narrow, for what is certain is that it takes half the memory.
  Constant Hold(const Constant& weight, std::optional<double> rows);

 private:
  bool Pays(double elements, double rows) const;

  DataType dtype_;
  double bytes_ = 0;
  std::map<const Object*, Constant> narrow_;
};

}  // namespace deuteron::relax
