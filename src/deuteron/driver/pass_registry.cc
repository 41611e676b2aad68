#include "deuteron/driver/pass_registry.h"

#include <algorithm>
#include <cctype>
#include <charconv>

#include "deuteron/driver/constant_evaluator.h"
#include "deuteron/driver/pipeline.h"
#include "deuteron/relax/transform/passes.h"
#include "deuteron/relax/transform/vm_passes.h"

namespace deuteron {
namespace {

using nlohmann::json;

const std::vector<PassEntry>& Table() {
  using Args = const PassArguments&;
  static const auto* table = new std::vector<PassEntry>{
      {"CanonicalizeBindings", "removes trivial bindings: copies, projections of known tuples, casts that check nothing", {},
       [](Args) { return relax::CanonicalizeBindings(); }},
      {"ConvertToDataflow", "gathers runs of pure bindings into dataflow blocks", {"min_size"},
       [](Args args) { return relax::ConvertToDataflow(args.Int("min_size", 2)); }},
      {"ToNonDataflow", "opens every dataflow block", {}, [](Args) { return relax::ToNonDataflow(); }},
      {"DecomposeOpsForInference", "writes batch_norm and other composite operators out in simpler ones", {"func_name"},
       [](Args args) { return relax::DecomposeOpsForInference(args.String("func_name", "")); }},
      {"FoldBatchnormToConv2D", "folds an inference batch_norm into the weights of the convolution before it", {},
       [](Args) { return relax::FoldBatchnormToConv2D(); }},
      {"FoldConstant", "evaluates what depends on constants only", {},
       [](Args) { return relax::FoldConstant(MakeConstantEvaluator()); }},
      {"DeadCodeElimination", "removes unused pure bindings and unreachable functions", {"entry_functions"},
       [](Args args) { return relax::DeadCodeElimination(args.Strings("entry_functions")); }},
      {"LegalizeOps", "replaces operators by calls of loop-level functions", {"skip_ops"},
       [](Args args) { return relax::LegalizeOps({}, args.Strings("skip_ops")); }},
      {"AnnotateTIROpPattern", "sets the attribute op_pattern of every loop-level function", {},
       [](Args) { return relax::AnnotateTIROpPattern(); }},
      {"FuseOps", "groups calls of loop-level functions into Primitive functions",
       {"fuse_opt_level", "wrap_single", "relay_rules"},
       [](Args args) {
         return relax::FuseOps({.fuse_opt_level = static_cast<int>(args.Int("fuse_opt_level", -1)),
                                .wrap_single = args.Bool("wrap_single", false),
                                .relay_rules = args.Bool("relay_rules", false)});
       }},
      {"FuseTIR", "merges the loop-level functions of each Primitive function into one", {},
       [](Args) { return relax::FuseTIR(); }},
      {"ExpandTupleArguments", "passes the fields of tuple parameters of private functions one by one", {},
       [](Args) { return relax::ExpandTupleArguments(); }},
      {"RemoveUnusedParameters", "removes parameters of private functions that nothing uses", {},
       [](Args) { return relax::RemoveUnusedParameters(); }},
      {"CombineMatmulsOfOneWeight", "products of several inputs with one weight become one product", {},
       [](Args) { return relax::CombineMatmulsOfOneWeight(); }},
      {"PackConvWeights", "lays constant convolution weights out for the kernels that read them", {},
       [](Args) { return relax::PackConvWeights(); }},
      {"ScheduleForCPU", "schedules every loop-level function for the current target", {},
       [](Args) { return SchedulePass(Target::Current()); }},
      {"RemovePurityChecking", "lets pure functions hold calls with side effects", {},
       [](Args) { return relax::RemovePurityChecking(); }},
      {"CallTIRRewrite", "makes the outputs of calls of kernels explicit", {}, [](Args) { return relax::CallTIRRewrite(); }},
      {"StaticPlanBlockMemory", "places tensors in few storages that are reused", {},
       [](Args) { return relax::StaticPlanBlockMemory(); }},
      {"LowerAllocTensor", "turns what is left of builtin.alloc_tensor into a storage and a tensor in it", {},
       [](Args) { return relax::LowerAllocTensor(); }},
      {"KillAfterLastUse", "says after its last use that a tensor or storage is dead", {},
       [](Args) { return relax::KillAfterLastUse(); }},
  };
  return *table;
}

/// Reads the text of `ParsePasses`.
class PassListParser {
 public:
  explicit PassListParser(std::string_view text) : text_(text) {}

  std::vector<transform::Pass> Run() {
    std::vector<transform::Pass> passes;
    SkipBlanks();
    while (at_ < text_.size()) {
      passes.push_back(One());
      SkipBlanks();
      if (at_ >= text_.size()) break;
      Expect(',');
      SkipBlanks();
    }
    return passes;
  }

 private:
  [[noreturn]] void Fail(const std::string& message) const {
    DEUTERON_THROW(UsageError) << "passes: " << message << "\n    " << text_ << "\n    "
                               << std::string(std::min(at_, text_.size()), ' ') << "^";
  }
  void SkipBlanks() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
  }
  bool Accept(char c) {
    SkipBlanks();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void Expect(char c) {
    if (!Accept(c)) Fail(std::string("expected `") + c + "`");
  }
  std::string Word() {
    SkipBlanks();
    const size_t begin = at_;
    while (at_ < text_.size() && std::string_view(",()[]{}=: \t\n\"'").find(text_[at_]) == std::string_view::npos) ++at_;
    if (at_ == begin) Fail("expected a name or a value");
    return std::string(text_.substr(begin, at_ - begin));
  }

  transform::Pass One() {
    const size_t begin = at_;
    const std::string name = Word();
    const PassEntry* entry = FindPass(name);
    if (entry == nullptr) {
      at_ = begin;
      Fail("there is no pass \"" + name + "\" (see deuteron opt --list-passes)");
    }
    std::map<std::string, json> values;
    if (Accept('(')) {
      while (!Accept(')')) {
        const size_t key_at = at_;
        const std::string key = Word();
        const auto known = [&](const char* parameter) { return key == parameter; };
        if (std::none_of(entry->parameters.begin(), entry->parameters.end(), known)) {
          at_ = key_at;
          std::string all;
          for (const char* parameter : entry->parameters) all += (all.empty() ? "" : ", ") + std::string(parameter);
          Fail(name + " has no argument \"" + key + "\"" + (all.empty() ? "; it takes none" : "; it takes " + all));
        }
        Expect('=');
        values[key] = Value(0);
        if (!Accept(',')) {
          Expect(')');
          break;
        }
      }
    }
    return entry->make(PassArguments(name, std::move(values)));
  }

  json Value(int depth) {
    if (depth > 64) Fail("nested too deeply");
    if (Accept('[')) {
      json list = json::array();
      while (!Accept(']')) {
        list.push_back(Value(depth + 1));
        if (!Accept(',')) {
          Expect(']');
          break;
        }
      }
      return list;
    }
    if (Accept('{')) {
      json dict = json::object();
      while (!Accept('}')) {
        const json key = Value(depth + 1);
        Expect(':');
        dict[key.is_string() ? key.get<std::string>() : key.dump()] = Value(depth + 1);
        if (!Accept(',')) {
          Expect('}');
          break;
        }
      }
      return dict;
    }
    SkipBlanks();
    if (at_ < text_.size() && (text_[at_] == '"' || text_[at_] == '\'')) {
      const char quote = text_[at_];
      const size_t end = text_.find(quote, at_ + 1);
      if (end == std::string_view::npos) Fail("this string has no end");
      std::string value(text_.substr(at_ + 1, end - at_ - 1));
      at_ = end + 1;
      return value;
    }
    const std::string word = Word();
    if (word == "true" || word == "True") return true;
    if (word == "false" || word == "False") return false;
    if (word == "none" || word == "None") return nullptr;
    int64_t integer = 0;
    const char* end = word.data() + word.size();
    if (const auto result = std::from_chars(word.data(), end, integer); result.ec == std::errc() && result.ptr == end) {
      return integer;
    }
    double number = 0;
    if (const auto result = std::from_chars(word.data(), end, number); result.ec == std::errc() && result.ptr == end) {
      return number;
    }
    return word;
  }

  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace

const json* PassArguments::Find(const char* name) const {
  const auto it = values_.find(name);
  return it == values_.end() || it->second.is_null() ? nullptr : &it->second;
}

void PassArguments::Fail(const char* name, const char* expected) const {
  DEUTERON_THROW(UsageError) << pass_ << ": argument " << name << " is " << expected << ", not " << values_.at(name).dump();
}

int64_t PassArguments::Int(const char* name, int64_t fallback) const {
  const json* value = Find(name);
  if (value == nullptr) return fallback;
  if (!value->is_number_integer()) Fail(name, "an integer");
  return value->get<int64_t>();
}

bool PassArguments::Bool(const char* name, bool fallback) const {
  const json* value = Find(name);
  if (value == nullptr) return fallback;
  if (!value->is_boolean()) Fail(name, "true or false");
  return value->get<bool>();
}

std::string PassArguments::String(const char* name, const std::string& fallback) const {
  const json* value = Find(name);
  if (value == nullptr) return fallback;
  if (!value->is_string()) Fail(name, "a string");
  return value->get<std::string>();
}

std::vector<std::string> PassArguments::Strings(const char* name) const {
  const json* value = Find(name);
  if (value == nullptr) return {};
  if (!value->is_array()) Fail(name, "a list of names, [a, b]");
  std::vector<std::string> strings;
  for (const json& item : *value) {
    if (!item.is_string()) Fail(name, "a list of names, [a, b]");
    strings.push_back(item.get<std::string>());
  }
  return strings;
}

std::map<std::string, int64_t> PassArguments::Ints(const char* name) const {
  const json* value = Find(name);
  if (value == nullptr) return {};
  if (!value->is_object()) Fail(name, "a dictionary of integers, {n: 4}");
  std::map<std::string, int64_t> ints;
  for (const auto& [key, item] : value->items()) {
    if (!item.is_number_integer()) Fail(name, "a dictionary of integers, {n: 4}");
    ints[key] = item.get<int64_t>();
  }
  return ints;
}

std::span<const PassEntry> AllPasses() { return Table(); }

const PassEntry* FindPass(std::string_view name) {
  const auto it = std::find_if(Table().begin(), Table().end(), [&](const PassEntry& entry) { return entry.name == name; });
  return it == Table().end() ? nullptr : &*it;
}

transform::Pass MakePass(const std::string& name) {
  const PassEntry* entry = FindPass(name);
  if (entry == nullptr) DEUTERON_THROW(UsageError) << "there is no pass \"" << name << "\" (see deuteron opt --list-passes)";
  return entry->make(PassArguments(name));
}

std::vector<transform::Pass> ParsePasses(std::string_view text) { return PassListParser(text).Run(); }

}  // namespace deuteron
