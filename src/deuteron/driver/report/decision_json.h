/// \file
/// The decision log as JSON, and back: how it travels in artefacts.
#pragma once

#include <string>
#include <string_view>

#include "deuteron/ir/transform/decision_log.h"

namespace deuteron {

/// One object a decision, fields that are empty left out: {"version": 1, "decisions": [{"pass": "FuseOps", …}]}.
std::string DecisionsToJson(const transform::DecisionLog& log);
/// The inverse; an empty log for empty text. A ModelError if the text is something else.
transform::DecisionLog DecisionsFromJson(std::string_view json);

}  // namespace deuteron
