/// \file
/// The figures of the model of a machine as options of a target's text.
#pragma once

#include <string>
#include <string_view>

#include "deuteron/target/machine.h"

namespace deuteron {

/// Sets the figure that the option `key` ("-l2-bytes") names. A UsageError if there is none, or `value` is none of its
/// values.
void SetFigure(std::string_view key, std::string_view value, Machine* machine);

/// The options, each after a space, that make the figures of `machine` from those of `base`.
std::string FiguresThatDiffer(const Machine& machine, const Machine& base);

}  // namespace deuteron
