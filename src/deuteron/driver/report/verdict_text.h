/// \file
/// Reasons of the decision log as sentences: ir/transform/reasons.def with what a decision knows filled in.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "deuteron/ir/transform/decision_log.h"

namespace deuteron::report {

/// The reason's sentence, and what is particular of the decision, unless its remedy says that.
std::string SentenceOf(const transform::Decision& decision);

/// The remedy of a reason, each {word} in it replaced by `value(word)`.
std::string RemedyOf(transform::Reason reason, const std::function<std::string(std::string_view word)>& value);

/// A figure of a decision as a remedy shows it: in bytes where its name says so.
std::string FigureText(const transform::Decision& decision, std::string_view name);

}  // namespace deuteron::report
