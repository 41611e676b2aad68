#include "deuteron/driver/report/decision_json.h"

#include <mutex>
#include <nlohmann/json.hpp>
#include <set>

#include "deuteron/support/error.h"

namespace deuteron {
namespace {

using nlohmann::json;
using transform::Decision;
using transform::DecisionLog;

constexpr int kVersion = 2;

json PlaceOf(const Span& span) {
  if (span->line == 0) return std::string(span->source);
  return json::array({std::string(span->source), span->line, span->column});
}

Span SpanOf(const json& place) {
  if (place.is_string()) return Span(String(place.get<std::string>()));
  return Span(String(place.at(0).get<std::string>()), place.at(1).get<int64_t>(), place.at(2).get<int64_t>());
}

/// Figures are named by text that lives as long as the process; there are a dozen such names.
const char* Intern(const std::string& name) {
  static std::mutex mutex;
  static auto* names = new std::set<std::string>();
  const std::lock_guard lock(mutex);
  return names->insert(name).first->c_str();
}

Decision ReadDecision(const json& row) {
  const auto code = row.at("reason").get<std::string>();
  const auto reason = transform::FindReason(code);
  if (!reason) DEUTERON_THROW(ModelError) << "the artefact's decision log has a reason that is none: " << code;
  Decision decision{.reason = *reason};
  const auto text = [&](const char* key) { return String(row.value(key, std::string())); };
  decision.pass = text("pass");
  decision.function = text("function");
  decision.subject = text("subject");
  decision.object = text("object");
  decision.message = text("message");
  if (row.contains("figures")) {
    for (const auto& [name, value] : row.at("figures").items())
      decision.figures.emplace_back(Intern(name), value.get<int64_t>());
  }
  if (row.contains("subject_at")) decision.subject_span = SpanOf(row.at("subject_at"));
  if (row.contains("object_at")) decision.object_span = SpanOf(row.at("object_at"));
  return decision;
}

}  // namespace

std::string DecisionsToJson(const DecisionLog& log) {
  json list = json::array();
  for (const Decision& decision : log.decisions()) {
    json row = json::object();
    const auto put = [&](const char* key, const String& text) {
      if (!text.empty()) row[key] = std::string(text);
    };
    put("pass", decision.pass);
    put("function", decision.function);
    put("subject", decision.subject);
    put("object", decision.object);
    row["reason"] = std::string(CodeOf(decision.reason));
    put("message", decision.message);
    for (const auto& [name, value] : decision.figures) row["figures"][name] = value;
    if (decision.subject_span.defined()) row["subject_at"] = PlaceOf(decision.subject_span);
    if (decision.object_span.defined()) row["object_at"] = PlaceOf(decision.object_span);
    list.push_back(std::move(row));
  }
  // Names in a user's model need not be UTF-8.
  return json{{"version", kVersion}, {"decisions", std::move(list)}}.dump(-1, ' ', false,
                                                                          json::error_handler_t::replace);
}

DecisionLog DecisionsFromJson(std::string_view text) {
  DecisionLog log;
  if (text.empty()) return log;
  try {
    const json document = json::parse(text);
    if (document.at("version").get<int>() != kVersion) {
      DEUTERON_THROW(ModelError) << "the artefact's decision log is of another version; compile the model again";
    }
    for (const json& row : document.at("decisions")) log.Add(ReadDecision(row));
  } catch (const json::exception& error) {
    DEUTERON_THROW(ModelError) << "the artefact's decision log is damaged: " << error.what();
  }
  return log;
}

}  // namespace deuteron
