#include "deuteron/driver/reduce.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <unordered_set>
#include <vector>

#include "deuteron/driver/main_slice.h"
#include "deuteron/relax/analysis/well_formed.h"
#include "deuteron/relax/rewrite/pass_utils.h"
#include "deuteron/script/parser.h"
#include "deuteron/script/printer.h"

namespace deuteron {
namespace {

using relax::Binding;
using relax::Var;

/// Counts candidates and takes no answer from one that is broken.
class Judge {
 public:
  Judge(const StillFails& still_fails, int64_t budget) : still_fails_(still_fails), budget_(budget) {}
  bool exhausted() const { return budget_ <= 0; }

  bool Fails(const std::function<IRModule()>& make, IRModule* accepted) {
    if (budget_-- <= 0) return false;
    try {
      IRModule candidate = make();
      relax::CheckWellFormed(candidate);
      if (!still_fails_(candidate)) return false;
      *accepted = std::move(candidate);
      return true;
    } catch (const std::exception&) {
      return false;
    }
  }

 private:
  const StillFails& still_fails_;
  int64_t budget_;
};

/// What main returns, if it is variables.
std::vector<Var> ResultsOf(const IRModule& module) {
  const auto main = Downcast<relax::Function>(module.Lookup("main"));
  const relax::Expr& body = main->body->body;
  std::vector<Var> results;
  const auto add = [&](const relax::Expr& expr) {
    if (relax::IsVar(expr)) results.push_back(Downcast<Var>(expr));
  };
  if (const auto* tuple = body.as<relax::TupleNode>()) {
    for (const relax::Expr& field : tuple->fields) add(field);
    return results;
  }
  add(body);
  // A tuple is bound before it is returned.
  for (const Binding& binding : MainBindings(module)) {
    if (!binding->var.same_as(body)) continue;
    if (const auto* tuple = relax::BoundValue(binding).as<relax::TupleNode>()) {
      results.clear();
      for (const relax::Expr& field : tuple->fields) add(field);
    }
  }
  return results;
}

/// Cuts bindings out of main, in runs that become shorter as long as nothing longer can go.
void CutBindings(IRModule* module, Judge* judge) {
  for (size_t run = MainBindings(*module).size() / 2; run > 0 && !judge->exhausted();) {
    bool any = false;
    // From the end: what is cut there may make earlier bindings useless.
    for (size_t end = MainBindings(*module).size(); end > 0 && !judge->exhausted();) {
      const std::vector<Binding> bindings = MainBindings(*module);
      end = std::min(end, bindings.size());
      const size_t begin = end > run ? end - run : 0;
      std::unordered_set<const Object*> cut;
      for (size_t i = begin; i < end; ++i) cut.insert(bindings[i].get());
      const std::vector<Var> results = ResultsOf(*module);
      any |= judge->Fails(
          [&] {
            IRModule sliced = SliceMain(*module, results, [&](const Binding& b) { return cut.count(b.get()) != 0; });
            // A cut that only renames is none.
            if (MainBindings(sliced).size() >= bindings.size()) DEUTERON_THROW(ModelError) << "nothing was cut";
            return sliced;
          },
          module);
      end = begin;
    }
    if (!any || run == 1) {
      if (run == 1 && !any) break;
      run = std::max<size_t>(run / 2, 1);
    } else {
      run = std::min(run, MainBindings(*module).size());
    }
  }
}

/// Whole numbers of a text that may be sizes: what stands in names, strings and floats is none.
struct Number {
  size_t begin = 0, length = 0;
  int64_t value = 0;
};
std::vector<Number> FindNumbers(const std::string& text) {
  std::vector<Number> numbers;
  for (size_t i = 0; i < text.size();) {
    const char c = text[i];
    if (c == '"' || c == '\'') {
      const size_t end = text.find(c, i + 1);
      i = end == std::string::npos ? text.size() : end + 1;
      continue;
    }
    if (c == '#') {
      i = std::min(text.find('\n', i), text.size());
      continue;
    }
    const auto is_word = [](char w) {
      return std::isalnum(static_cast<unsigned char>(w)) != 0 || w == '_' || w == '.';
    };
    if (!is_word(c)) {
      ++i;
      continue;
    }
    const size_t begin = i;
    while (i < text.size() && is_word(text[i])) ++i;
    const bool digits = std::all_of(text.begin() + static_cast<int64_t>(begin), text.begin() + static_cast<int64_t>(i),
                                    [](char d) { return std::isdigit(static_cast<unsigned char>(d)) != 0; });
    if (digits && i - begin < 18) numbers.push_back({begin, i - begin, std::stoll(text.substr(begin, i - begin))});
  }
  return numbers;
}

std::string ReplaceNumbers(const std::string& text, const std::function<int64_t(int64_t)>& replace) {
  std::string replaced;
  size_t done = 0;
  for (const Number& number : FindNumbers(text)) {
    replaced += text.substr(done, number.begin - done) + std::to_string(replace(number.value));
    done = number.begin + number.length;
  }
  return replaced + text.substr(done);
}

}  // namespace

IRModule ReduceBindings(IRModule module, const StillFails& still_fails, const ReduceOptions& options) {
  Judge judge(still_fails, options.max_candidates);
  const std::vector<Var> results = ResultsOf(module);
  if (results.empty()) return module;
  for (const Var& result : results) {
    if (judge.Fails([&] { return SliceMain(module, {result}); }, &module)) break;
  }
  // An earlier value that fails by itself ends the module sooner.
  const std::vector<Var> vars = TensorVars(module);
  size_t low = 0;
  for (size_t high = vars.size(); low < high && !judge.exhausted();) {
    const size_t middle = (low + high) / 2;
    IRModule shorter;
    if (judge.Fails([&] { return SliceMain(module, {vars[middle]}); }, &shorter)) {
      high = middle;
      module = std::move(shorter);
      // Variables keep their identity up to the result, which may have become another.
      if (TensorVars(module).empty()) break;
    } else {
      low = middle + 1;
    }
  }
  CutBindings(&module, &judge);
  judge.Fails([&] { return ConstantsToParams(module); }, &module);
  return module;
}

std::string ReduceSizes(const IRModule& module, const StillFails& still_fails, const ReduceOptions& options) {
  Judge judge(still_fails, options.max_candidates);
  std::string text = script::Print(module);
  IRModule accepted;
  const auto attempt = [&](const std::function<int64_t(int64_t)>& replace) {
    const std::string candidate = ReplaceNumbers(text, replace);
    if (candidate == text || !judge.Fails([&] { return script::ParseModule(candidate, "reduced.py"); }, &accepted))
      return false;
    text = candidate;
    return true;
  };
  // All at once as long as that works: sizes that depend on each other shrink together.
  for (const int64_t divisor : {8, 2}) {
    while (attempt([divisor](int64_t n) { return n >= 4 * divisor && n % divisor == 0 ? n / divisor : n; })) {
    }
  }
  // Then each by itself, the greatest first.
  for (bool any = true; any && !judge.exhausted();) {
    any = false;
    std::map<int64_t, int64_t, std::greater<>> values;
    for (const Number& number : FindNumbers(text)) {
      if (number.value > 1) ++values[number.value];
    }
    for (const auto& [value, count] : values) {
      for (const int64_t smaller : {int64_t{1}, int64_t{2}, int64_t{3}, value / 4, value / 2}) {
        if (smaller < 1 || smaller >= value) continue;
        if (attempt([value = value, smaller](int64_t n) { return n == value ? smaller : n; })) {
          any = true;
          break;
        }
      }
    }
  }
  return text;
}

}  // namespace deuteron
