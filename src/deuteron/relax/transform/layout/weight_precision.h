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

/// Rounds weights of float32 to the narrower type that is allowed where more time is saved by reading half as many
/// bytes than is spent on widening them in registers. That is where each is multiplied with few rows: a weight is
/// widened once for every tile of rows. The CPU's own products of narrow types are left to libraries.
///
/// Weights that are narrow in the model are widened here where that is the other way round, and they fit the second
/// cache still: larger ones would cost memory that the model means to save.
class WeightPrecision {
 public:
  /// Of the weights of `module`, all of which a run reads.
  WeightPrecision(const IRModule& module, const transform::PassContext& context);

  /// `weight` as it is to be held. `rows`: with how many elements each of it is multiplied in a run; nothing where the
  /// run tells: then it is narrow, for what is certain is that it takes half the memory.
  Constant Hold(const Constant& weight, std::optional<double> rows);

  /// A weight of float32 in the narrow type, as it is where that has no numbers near to its own.
  Constant Narrow(const Constant& weight);

 private:
  /// Whether a weight of the narrow type saves time.
  bool Pays(DataType narrow, double elements, double rows) const;
  Constant Widened(const Constant& weight, double rows);

  DataType dtype_;
  double bytes_;
  /// By the constant that the module has.
  std::map<const Object*, Constant> held_;
};

}  // namespace deuteron::relax
