#include "deuteron/driver/report/decision_json.h"

#include <mutex>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <unordered_map>

#include "deuteron/support/error.h"

namespace deuteron {
namespace {

using nlohmann::json;
using transform::Decision;
using transform::DecisionLog;

constexpr int kVersion = 2;

/// Writes decisions one by one. There are thousands in a large network, most of whose texts occur many times: each is
/// made JSON once.
class DecisionWriter {
 public:
  std::string Write(const DecisionLog& log) {
    text_ = "{\"decisions\":[";
    bool is_first = true;
    for (const Decision& decision : log.decisions()) {
      if (!is_first) text_ += ',';
      is_first = false;
      Add(decision);
    }
    return text_ + "],\"version\":" + std::to_string(kVersion) + "}";
  }

 private:
  void Add(const Decision& decision) {
    text_ += "{\"reason\":";
    text_ += Quoted(std::string(CodeOf(decision.reason)));
    Put("pass", decision.pass);
    Put("function", decision.function);
    Put("subject", decision.subject);
    Put("object", decision.object);
    Put("message", decision.message);
    if (!decision.figures.empty()) {
      char next = '{';
      text_ += ",\"figures\":";
      for (const auto& [name, value] : decision.figures) {
        text_ += next;
        text_ += Quoted(name) + ":" + std::to_string(value);
        next = ',';
      }
      text_ += '}';
    }
    if (decision.subject_span.defined()) PutPlace("subject_at", decision.subject_span);
    if (decision.object_span.defined()) PutPlace("object_at", decision.object_span);
    text_ += '}';
  }
  void Put(const char* key, const String& text) {
    if (text.empty()) return;
    PutKey(key);
    text_ += Quoted(std::string(text));
  }
  void PutPlace(const char* key, const Span& span) {
    PutKey(key);
    const std::string& source = Quoted(std::string(span->source));
    text_ += span->line == 0
                 ? source
                 : "[" + source + "," + std::to_string(span->line) + "," + std::to_string(span->column) + "]";
  }
  void PutKey(const char* key) { text_ += std::string(",\"") + key + "\":"; }
  const std::string& Quoted(const std::string& text) {
    std::string& quoted = quoted_[text];
    // Names in a user's model need not be UTF-8.
    if (quoted.empty()) quoted = json(text).dump(-1, ' ', false, json::error_handler_t::replace);
    return quoted;
  }

  std::string text_;
  std::unordered_map<std::string, std::string> quoted_;
};

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

std::string DecisionsToJson(const DecisionLog& log) { return DecisionWriter().Write(log); }

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
