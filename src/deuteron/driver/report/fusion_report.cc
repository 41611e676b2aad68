#include "deuteron/driver/report/fusion_report.h"

#include <algorithm>
#include <deque>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "deuteron/driver/report/splice_libraries.h"
#include "deuteron/driver/report/verdict_text.h"
#include "deuteron/support/error.h"

namespace deuteron::report {
namespace {

using transform::Decision;
using transform::PlaceText;
using transform::Reason;
using transform::ReasonKind;

constexpr size_t kNone = SIZE_MAX;

/// "read; written; flops" as sizes.
std::vector<SizeExpr> ParseSizes(const std::string& text, const Symbols& symbols) {
  std::vector<SizeExpr> sizes;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find("; ", begin), text.size());
    sizes.push_back(SizeExpr::Parse(std::string_view(text).substr(begin, end - begin), symbols));
    begin = end + 2;
  }
  return sizes;
}

class Joiner {
 public:
  explicit Joiner(const Symbols& symbols) : symbols_(symbols) {}

  FusionReport Join(const transform::DecisionLog& log) {
    const std::deque<Decision> decisions(log.decisions().begin(), log.decisions().end());
    FindLastRuns(decisions);
    size_t index = 0;
    for (const Decision& decision : decisions) Read(decision, index++);
    AssignKernels();
    for (const auto& [decision, number] : edges_) AddEdge(*decision, number);
    Summarise();
    SpliceLibraries(library_inputs_, &report_);
    return std::move(report_);
  }

 private:
  /// The operators of one function that are in one group of FuseOps, or one alone.
  struct Unit {
    std::vector<size_t> members;
    std::string name;
    std::set<size_t> kernels;
  };
  /// Operators, edges and groups: of FuseOps, and of RunCodegen for what a library computes.
  static bool IsGraph(const Decision& decision) { return decision.pass == "FuseOps" || decision.pass == "RunCodegen"; }
  static bool IsOfEdge(Reason reason) {
    const ReasonKind kind = InfoOf(reason).kind;
    return kind == ReasonKind::kFused || kind == ReasonKind::kNotFused;
  }
  static bool Has(const Decision& decision, std::string_view figure) { return decision.Get(figure, -1) >= 0; }
  static std::string Key(const std::string& function, const std::string& name) { return function + "\n" + name; }

  /// A pass that ran twice on a function counts the last time: node 0 comes once a run.
  void FindLastRuns(const std::deque<Decision>& decisions) {
    size_t index = 0;
    for (const Decision& decision : decisions) {
      if (IsGraph(decision) && decision.Get("node", -1) == 0) last_run_[std::string(decision.function)] = index;
      ++index;
    }
  }

  void Read(const Decision& decision, size_t index) {
    if (IsGraph(decision)) {
      const auto it = last_run_.find(std::string(decision.function));
      if (it != last_run_.end() && index < it->second) return;
      if (Has(decision, "node")) return AddNode(decision);
      if (Has(decision, "from"))
        return edges_.emplace_back(&decision, base_.at(std::string(decision.function))), void();
      if (decision.reason == Reason::kGroup) {
        groups_[GroupKey(std::string(decision.function), decision.Get("group"))].name = std::string(decision.object);
        return;
      }
      // The launch says the same again.
      if (decision.reason == Reason::kLibraryKernel) {
        library_inputs_.try_emplace(std::string(decision.function));
        return;
      }
      if (decision.reason == Reason::kLibraryInput) {
        auto& readers = library_inputs_[std::string(decision.function)][std::string(decision.subject)];
        return readers.push_back(base_.at(std::string(decision.function)) + static_cast<size_t>(decision.Get("to")));
      }
      if (decision.reason == Reason::kLibraryPattern) {
        rules_[std::string(decision.subject)] = std::string(decision.object);
        return;
      }
    } else if (decision.pass == "Kernels") {
      return ReadKernel(decision);
    } else if (decision.pass == "Text") {
      report_.texts[std::string(decision.subject)][std::string(CodeOf(decision.reason))] =
          std::string(decision.message);
      return;
    } else if (decision.reason == Reason::kScheduleRule) {
      rules_[std::string(decision.subject)] = std::string(decision.object);
      return;
    } else if (decision.reason == Reason::kLibrary || decision.reason == Reason::kMemoryPlanned ||
               decision.reason == Reason::kTuned) {
      // Which operators a library takes is in its kernels; what is measured or planned comes later than what is
      // explained.
      return;
    } else if (decision.reason == Reason::kNotMerged) {
      not_merged_[std::string(decision.subject)] = &decision;
    } else if (IsOfEdge(decision.reason) && base_.count(std::string(decision.function)) != 0) {
      // A verdict on an edge, of a pass after FuseOps.
      later_[Key(std::string(decision.function), std::string(decision.subject))].push_back(&decision);
      return;
    }
    std::string subject = PlaceText(decision.subject_span, decision.subject);
    if (subject != decision.subject) subject += " (" + std::string(decision.subject) + ")";
    report_.remarks.push_back({std::string(decision.pass), std::string(decision.function), std::move(subject),
                               std::string(decision.object), decision.reason, SentenceOf(decision),
                               RemedyOf(decision.reason, [&](std::string_view word) {
                                 return word == "detail" ? std::string(decision.message) : FigureText(decision, word);
                               })});
    if (InfoOf(decision.reason).kind != transform::ReasonKind::kChosen) return;
    for (const auto& [name, value] : decision.figures) report_.remarks.back().figures.emplace_back(name, value);
  }

  static std::string GroupKey(const std::string& function, int64_t group) {
    return Key(function, std::to_string(group));
  }

  void AddNode(const Decision& decision) {
    Node node;
    node.function = std::string(decision.function);
    node.var = std::string(decision.subject);
    node.callee = std::string(decision.object);
    node.kind = std::string(CodeOf(decision.reason));
    node.place = PlaceText(decision.subject_span, decision.subject);
    const size_t number = report_.nodes.size();
    base_.try_emplace(node.function, number);
    node.is_kernel = Has(decision, "written") || Has(decision, "symbolic");
    if (Has(decision, "written")) {
      node.read = decision.Get("read");
      node.written = decision.Get("written");
    } else if (node.is_kernel && decision.message.find("; ") != String::npos) {
      const auto sizes = ParseSizes(std::string(decision.message), symbols_);
      node.read = sizes[0];
      node.written = sizes[1];
    } else {
      node.cause = transform::FindReason(std::string(decision.message));
      if (node.is_kernel) node.read = node.written = SizeExpr::Unknown();
    }
    const std::string key = Has(decision, "group") ? GroupKey(node.function, decision.Get("group"))
                                                   : Key(node.function, "#" + std::to_string(number));
    unit_key_.push_back(key);
    groups_[key].members.push_back(number);
    report_.nodes.push_back(std::move(node));
  }

  void ReadKernel(const Decision& decision) {
    if (decision.reason == Reason::kKernel) {
      params_[std::string(decision.subject)] = std::string(decision.message);
      return;
    }
    const auto launch = static_cast<size_t>(decision.Get("launch"));
    // A second compilation into the same log numbers afresh.
    if (decision.reason == Reason::kLaunch && launch == 0) {
      report_.kernels.clear();
      holders_.clear();
    }
    const std::string var(decision.subject);
    if (decision.reason == Reason::kLaunch) {
      DEUTERON_CHECK(launch == report_.kernels.size()) << "launches are recorded in order";
      Kernel kernel;
      kernel.name = std::string(decision.object);
      kernel.function = std::string(decision.function);
      kernel.var = var;
      kernel.place = PlaceText(decision.subject_span, decision.subject);
      if (Has(decision, "written")) {
        kernel.read = decision.Get("read");
        kernel.written = decision.Get("written");
        kernel.flops = decision.Get("flops");
      } else {
        auto sizes = ParseSizes(std::string(decision.message), symbols_);
        sizes.resize(3, SizeExpr::Unknown());
        kernel.read = sizes[0];
        kernel.written = sizes[1];
        kernel.flops = sizes[2];
      }
      report_.kernels.push_back(std::move(kernel));
    } else {
      report_.kernels.at(launch).outputs.push_back(var);
    }
    holders_[Key(std::string(decision.function), var)].push_back(launch);
  }

  // ----- Which kernel computes an operator.

  void AssignKernels() {
    std::vector<std::vector<size_t>> consumers(report_.nodes.size());
    for (const auto& [decision, base] : edges_) {
      consumers[base + static_cast<size_t>(decision->Get("from"))].push_back(base +
                                                                             static_cast<size_t>(decision->Get("to")));
    }
    // Results of a group keep their names; inside of it, others may have the same ones.
    const auto is_result = [&](size_t i) {
      return consumers[i].empty() || std::any_of(consumers[i].begin(), consumers[i].end(),
                                                 [&](size_t to) { return unit_key_[to] != unit_key_[i]; });
    };
    // A name may be bound several times; both sides are in order then.
    std::unordered_map<std::string, size_t> used;
    for (size_t i = 0; i < report_.nodes.size(); ++i) {
      const Node& node = report_.nodes[i];
      Unit& unit = groups_.at(unit_key_[i]);
      std::string key = Key(node.function, node.var);
      auto it = holders_.find(key);
      if (it != holders_.end()) {
        size_t& next = used[key];
        if ((node.is_kernel || unit.members.size() > 1) && is_result(i)) {
          unit.kernels.insert(it->second[std::min(next, it->second.size() - 1)]);
          ++next;
        }
      }
      // Inside of a group that was not merged, every operator is launched by itself.
      if (not_merged_.count(unit.name) != 0) {
        it = holders_.find(Key(unit.name, node.var));
        if (it != holders_.end()) own_kernel_[i] = it->second.front();
      }
    }
    // What has no kernel was merged into those of its consumers by a later pass. Producers come first in the order.
    for (size_t i = report_.nodes.size(); i-- > 0;) {
      Unit& unit = groups_.at(unit_key_[i]);
      const bool computes = report_.nodes[i].is_kernel || unit.members.size() > 1;
      if (computes && unit.kernels.empty() && own_kernel_.count(i) == 0) {
        // Items of tuples stand between a kernel and its consumers.
        for (const size_t to : consumers[i]) {
          const Unit& user = groups_.at(unit_key_[to]);
          unit.kernels.insert(user.kernels.begin(), user.kernels.end());
          if (user.kernels.empty()) unit.kernels.insert(through_[to].begin(), through_[to].end());
        }
      } else if (!computes) {
        for (const size_t to : consumers[i]) {
          const Unit& user = groups_.at(unit_key_[to]);
          through_[i].insert(user.kernels.begin(), user.kernels.end());
        }
      }
    }
    for (size_t i = 0; i < report_.nodes.size(); ++i) {
      Node& node = report_.nodes[i];
      const Unit& unit = groups_.at(unit_key_[i]);
      if (const auto it = own_kernel_.find(i); it != own_kernel_.end()) {
        node.kernels = {it->second};
      } else {
        node.kernels.assign(unit.kernels.begin(), unit.kernels.end());
      }
      for (const size_t kernel : node.kernels) report_.kernels[kernel].members.push_back(i);
    }
  }

  // ----- Edges.

  void AddEdge(const Decision& decision, size_t base) {
    Edge edge;
    edge.from = base + static_cast<size_t>(decision.Get("from"));
    edge.to = base + static_cast<size_t>(decision.Get("to"));
    edge.pass = std::string(decision.pass);
    edge.reason = decision.reason;
    const Decision* told_by = &decision;
    const std::string& unit_name = groups_.at(unit_key_[edge.from]).name;
    if (edge.reason == Reason::kFused) {
      if (Has(decision, "phase")) edge.phase = std::to_string(decision.Get("phase"));
      if (const auto it = not_merged_.find(unit_name); it != not_merged_.end()) {
        told_by = it->second;
        edge = {.from = edge.from, .to = edge.to, .reason = told_by->reason, .pass = std::string(told_by->pass)};
      }
    } else if (IsLibraryCall(edge.from) || IsLibraryCall(edge.to)) {
      edge.reason = Reason::kLibraryBoundary;
      edge.pass = "RunCodegen";
    } else if (const Decision* verdict = ApplyLaterVerdict(&edge)) {
      told_by = verdict;
    }
    edge.fused = edge.reason == Reason::kFused;
    if (!edge.fused) Tell(*told_by, base, &edge);
    report_.edges.push_back(std::move(edge));
  }

  bool IsLibraryCall(size_t node) const { return library_inputs_.count(report_.nodes[node].callee) != 0; }

  /// What stands against the edge, and what would change it.
  void Tell(const Decision& decision, size_t base, Edge* edge) const {
    const bool decided = edge->reason == decision.reason;
    if (decided && Has(decision, "at")) edge->at = base + static_cast<size_t>(decision.Get("at"));
    edge->sentence = decided ? SentenceOf(decision) : std::string(InfoOf(edge->reason).sentence);
    const bool producer = edge->reason == Reason::kOpaqueProducer;
    const size_t culprit = producer ? edge->from : edge->at == kNone ? edge->to : edge->at;
    Reason remedy = edge->reason;
    if (producer || edge->reason == Reason::kOpaqueConsumer) {
      if (const auto cause = report_.nodes[culprit].cause) {
        edge->sentence += " (" + report_.nodes[culprit].place + ": " + std::string(InfoOf(*cause).sentence) + ".)";
        remedy = *cause;
      }
    }
    edge->change = RemedyOf(remedy, [&](std::string_view word) {
      if (word == "detail") return decision.message.empty() ? "it is not" : std::string(decision.message);
      if (word == "generated") return NameOf(IsLibraryCall(edge->from) ? edge->to : edge->from);
      if (word != "at") return FigureText(decision, word);
      const bool unknown = edge->at == kNone && edge->reason == Reason::kPathBlocked;
      return unknown ? "the operator in the way" : NameOf(culprit);
    });
  }

  std::string NameOf(size_t node) const { return report_.nodes[node].place + " (" + report_.nodes[node].callee + ")"; }

  /// A pass after FuseOps may have merged what FuseOps left apart, or given a better reason: its verdict, or null.
  const Decision* ApplyLaterVerdict(Edge* edge) {
    const Node& from = report_.nodes[edge->from];
    const Node& to = report_.nodes[edge->to];
    std::vector<size_t> common;
    std::set_intersection(from.kernels.begin(), from.kernels.end(), to.kernels.begin(), to.kernels.end(),
                          std::back_inserter(common));
    const Decision* verdict = FindLaterVerdict(from, to);
    if (!common.empty()) {
      edge->reason = Reason::kFused;
      edge->pass = verdict != nullptr ? std::string(verdict->pass) : "a later pass";
      return verdict;
    }
    // That it has no rows says less than what FuseOps found.
    if (verdict == nullptr || InfoOf(verdict->reason).kind == ReasonKind::kFused ||
        verdict->reason == Reason::kNotRowByRow) {
      return nullptr;
    }
    edge->pass = std::string(verdict->pass);
    edge->reason = verdict->reason;
    return verdict;
  }

  /// The last verdict on the two groups of FuseOps that hold the ends; else on the two kernels, any of whose variables
  /// may name them.
  const Decision* FindLaterVerdict(const Node& from, const Node& to) const {
    if (const Decision* exact = FindVerdictBetween({UnitVar(from)}, {UnitVar(to)}, from.function)) return exact;
    const auto names_of = [this](const Node& node) {
      std::vector<std::string> names{node.var};
      for (const size_t kernel : node.kernels) names.push_back(report_.kernels[kernel].var);
      names.push_back(UnitVar(node));
      return names;
    };
    return FindVerdictBetween(names_of(from), names_of(to), from.function);
  }

  /// The variable that the call of a node's group is bound to.
  const std::string& UnitVar(const Node& node) const {
    const Unit& unit = groups_.at(unit_key_[static_cast<size_t>(&node - report_.nodes.data())]);
    return report_.nodes[unit.members.back()].var;
  }

  const Decision* FindVerdictBetween(const std::vector<std::string>& sources, const std::vector<std::string>& targets,
                                     const std::string& function) const {
    const Decision* last = nullptr;
    for (const std::string& name : sources) {
      const auto it = later_.find(Key(function, name));
      if (it == later_.end()) continue;
      for (const Decision* decision : it->second) {
        if (std::find(targets.begin(), targets.end(), std::string(decision->object)) != targets.end()) last = decision;
      }
    }
    return last;
  }

  // ----- Figures of kernels.

  void Summarise() {
    for (Kernel& kernel : report_.kernels) {
      if (const auto it = params_.find(kernel.name); it != params_.end()) kernel.params = it->second;
      if (const auto it = rules_.find(kernel.name); it != rules_.end()) kernel.schedule = it->second;
      if (const auto it = not_merged_.find(kernel.function); it != not_merged_.end())
        kernel.not_merged = std::string(it->second->message);
      std::unordered_set<std::string> outputs(kernel.outputs.begin(), kernel.outputs.end());
      outputs.insert(kernel.var);
      bool any = false;
      for (const size_t member : kernel.members) {
        const Node& node = report_.nodes[member];
        if (!node.is_kernel) continue;
        any = true;
        kernel.read_before += node.read;
        kernel.written_before += node.written;
        if (outputs.count(node.var) == 0) kernel.removed.push_back(member);
      }
      if (!any) {
        kernel.read_before = kernel.read;
        kernel.written_before = kernel.written;
      }
      for (const SizeExpr* size : {&kernel.read, &kernel.written, &kernel.flops})
        report_.symbolic |= !size->number() && !size->unknown();
    }
  }

  const Symbols& symbols_;
  FusionReport report_;
  std::unordered_map<std::string, size_t> last_run_;
  /// Number of a function's first node.
  std::unordered_map<std::string, size_t> base_;
  std::vector<std::string> unit_key_;
  std::unordered_map<std::string, Unit> groups_;
  std::vector<std::pair<const Decision*, size_t>> edges_;
  /// Launches by the variable that holds a result.
  std::unordered_map<std::string, std::vector<size_t>> holders_;
  std::unordered_map<size_t, size_t> own_kernel_;
  std::unordered_map<size_t, std::set<size_t>> through_;
  std::unordered_map<std::string, std::string> params_;
  std::unordered_map<std::string, std::string> rules_;
  LibraryInputs library_inputs_;
  std::unordered_map<std::string, const Decision*> not_merged_;
  std::unordered_map<std::string, std::vector<const Decision*>> later_;
};

}  // namespace

int64_t FusionReport::num_operators() const {
  return std::count_if(nodes.begin(), nodes.end(), [](const Node& node) { return node.is_kernel; });
}
int64_t FusionReport::num_fused_edges() const {
  return std::count_if(edges.begin(), edges.end(), [](const Edge& edge) { return edge.fused; });
}
SizeExpr FusionReport::TotalBefore() const {
  SizeExpr total;
  for (const Kernel& kernel : kernels) total += kernel.read_before + kernel.written_before;
  return total;
}
SizeExpr FusionReport::TotalAfter() const {
  SizeExpr total;
  for (const Kernel& kernel : kernels) total += kernel.read + kernel.written;
  return total;
}
SizeExpr FusionReport::TotalFlops() const {
  SizeExpr total;
  for (const Kernel& kernel : kernels) total += kernel.flops;
  return total;
}

std::vector<std::string> FusionReport::Places(const Kernel& kernel) const {
  std::vector<std::string> places;
  for (const size_t member : kernel.members) {
    const Node& node = nodes[member];
    if (node.is_kernel && std::find(places.begin(), places.end(), node.place) == places.end())
      places.push_back(node.place);
  }
  if (places.empty()) places.push_back(kernel.place);
  return places;
}

FusionReport BuildReport(const transform::DecisionLog& log, const Symbols& symbols) {
  return Joiner(symbols).Join(log);
}

}  // namespace deuteron::report
