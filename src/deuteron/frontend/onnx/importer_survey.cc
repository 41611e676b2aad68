/// \file
/// What of a model is not supported, at once: of its operators before it is converted, and, in a survey, of everything.
#include <algorithm>
#include <map>
#include <memory>
#include <set>

#include "deuteron/frontend/onnx/graph_check.h"
#include "deuteron/frontend/onnx/importer.h"
#include "deuteron/frontend/onnx/model_words.h"
#include "deuteron/frontend/onnx/op_table.h"
#include "deuteron/frontend/onnx/signatures.h"

namespace deuteron::onnx {
namespace {

constexpr const char* kHelpByCustom = "an operator of your own in its place, by --custom (docs/custom-operators.md)";

void CheckOpset(const Scope& scope) {
  const int64_t version = scope.Opset("");
  if (version < 0) {
    DEUTERON_THROW(UnsupportedError) << "the model uses operator set " << version << " of ONNX; the first is "
                                     << kFirstOpset;
  }
  if (const int64_t contrib = scope.Opset("com.microsoft"); contrib > 1) {
    DEUTERON_THROW(UnsupportedError) << "the model uses operator set " << contrib << " of com.microsoft; there is 1";
  }
}

}  // namespace

bool Importer::Attempt(const std::string& node, const std::string& op, const std::function<void()>& work) {
  if (problems_ == nullptr) {
    work();
    return true;
  }
  Scope* const scope = scope_;
  const int depth = call_depth_;
  try {
    work();
    return true;
  } catch (const NeedsUnknown&) {
  } catch (const ffi::Error& error) {
    const bool is_malformed = error.kind() == "ModelError";
    if (!is_malformed && error.kind() != "UnsupportedError") throw;
    const std::string reason = InModelWords(std::string(error.message()), node);
    const char* const help = is_malformed                                  ? ""
                             : reason.find("--shape") != std::string::npos ? "its number, by --shape"
                             : op.empty()                                  ? ""
                                                                           : kHelpByCustom;
    problems_->push_back({node, op, reason, help, is_malformed});
  }
  scope_ = scope;
  call_depth_ = depth;
  return false;
}

void Importer::BindUnknown(const NodeProto& node, Scope* scope) {
  const std::vector<ValueInfoProto>& known = model_->graph.value_infos;
  for (const std::string_view name : node.outputs) {
    if (name.empty()) continue;
    Value& value = scope->values[name];
    value = Value::Unknown();
    const auto info = std::find_if(known.begin(), known.end(), [&](const auto& one) { return one.name == name; });
    if (scope != &root_ || info == known.end() || !info->has_shape || !info->holders.empty()) continue;
    Attempt(NodeSpanName(node), std::string(node.op_type), [&] { value = InputParameter(*info); });
  }
}

void Importer::CheckForm(const NodeProto& node, int64_t version) {
  if (problems_ != nullptr) {
    Attempt(NodeSpanName(node), OperatorName(node), [&] { CheckSignature(node, version); });
    return;
  }
  try {
    CheckSignature(node, version);
  } catch (const ffi::Error& error) {
    RethrowAt(node, error);
  }
}

void Importer::CheckOperators() {
  // Operator and version → the nodes that use it.
  std::map<std::string, std::vector<std::string>> unknown;
  std::vector<std::pair<const std::vector<NodeProto>*, const Scope*>> work;
  std::vector<std::unique_ptr<Scope>> scopes;
  work.emplace_back(&model_->graph.nodes, &root_);
  for (const FunctionProto& function : model_->functions) {
    scopes.push_back(std::make_unique<Scope>());
    scopes.back()->Import(function.opsets);
    work.emplace_back(&function.nodes, scopes.back().get());
  }
  if (const int64_t version = root_.Opset(""); version > kLastOpset && options_.warn) {
    options_.warn("the model uses operator set " + std::to_string(version) + " of ONNX; known are those to " +
                  std::to_string(kLastOpset) + ": its operators are taken for what they are there");
  }
  while (!work.empty()) {
    const auto [nodes, scope] = work.back();
    work.pop_back();
    Attempt("", "", [&, scope = scope] { CheckOpset(*scope); });
    for (const NodeProto& node : *nodes) {
      for (const AttributeProto& attribute : node.attributes) {
        if (attribute.g != nullptr) work.emplace_back(&attribute.g->nodes, scope);
      }
      if (custom_.Has(node) || FindFunction(node) != nullptr) continue;
      const int64_t version = scope->Opset(node.domain);
      if (FindOp(node.domain, node.op_type, version) != nullptr) {
        CheckForm(node, version);
        continue;
      }
      const std::string domain = IsOnnxDomain(node.domain) ? "ai.onnx" : std::string(node.domain);
      const std::string_view reason = WhyRefused(node.domain, node.op_type);
      if (problems_ != nullptr) {
        problems_->push_back({NodeSpanName(node), OperatorName(node),
                              reason.empty() ? "version " + std::to_string(version) + " of domain " + domain +
                                                   " has no such operator that is known"
                                             : std::string(reason),
                              kHelpByCustom});
        continue;
      }
      unknown[std::string(node.op_type) + " (domain " + domain + ", version " + std::to_string(version) + ")" +
              (reason.empty() ? "" : ", for " + std::string(reason))]
          .push_back(NodeSpanName(node));
    }
  }
  if (unknown.empty()) return;
  std::string message;
  for (const auto& [op, nodes] : unknown) {
    message += "\n  " + op + ": ";
    constexpr size_t kMostShown = 10;
    for (size_t i = 0; i < nodes.size() && i < kMostShown; ++i) message += (i > 0 ? ", '" : "'") + nodes[i] + "'";
    if (nodes.size() > kMostShown) message += " and " + std::to_string(nodes.size() - kMostShown) + " more";
  }
  DEUTERON_THROW(UnsupportedError) << "the model uses operators that are not supported:" << message;
}

std::vector<Problem> FindProblems(const std::string& path, const ImportOptions& options) {
  const LimitScope scope(options.limits.value_or(CurrentLimits()));
  return Importer(ReadModel(MappedFile::Open(path, "the model")), options).Survey();
}

std::vector<Problem> Importer::Survey() {
  std::vector<Problem> problems;
  problems_ = &problems;
  Run();
  problems_ = nullptr;
  // A problem of a body that is converted several times, or is looked at before it is, is one.
  std::set<std::pair<std::string, std::string>> seen;
  std::erase_if(problems, [&](const Problem& one) { return !seen.emplace(one.node, one.reason).second; });
  return problems;
}

}  // namespace deuteron::onnx
