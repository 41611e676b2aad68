/// \file
/// A fusion report in the forms that `deuteron explain` prints. docs/explain.md documents them.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "deuteron/driver/report/fusion_report.h"

namespace deuteron::report {

/// A table of kernels by bytes saved, then the edges that are not fused, by reason.
std::string WriteText(const FusionReport& report, const std::string& model);
/// One object; the schema is docs/explain.schema.json.
nlohmann::ordered_json WriteJson(const FusionReport& report, const std::string& model);
/// A graph for graphviz, kernels as clusters.
std::string WriteDot(const FusionReport& report, const std::string& model);
/// One page that needs nothing else: the graph, its kernels, their figures and text.
std::string WriteHtml(const FusionReport& report, const std::string& model);

/// "1.50 MiB" where it is a number, else the expression.
std::string HumanBytes(const SizeExpr& size);
/// "7.7 G", …
std::string HumanCount(const SizeExpr& count);
/// A number if it is one, else the expression as a string.
nlohmann::ordered_json SizeToJson(const SizeExpr& size);

}  // namespace deuteron::report
