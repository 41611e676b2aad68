/// \file
/// Calls of passes, to and from text like `FuseOps(fuse_opt_level=2),FuseTIR`; their arguments.
#include <algorithm>
#include <cctype>
#include <charconv>
#include <set>

#include "deuteron/driver/pass_registry.h"
#include "deuteron/support/suggest.h"

namespace deuteron {
namespace {

using nlohmann::json;

/// What is wrong with the name of a pass that is none of `names`.
std::string NoSuchPass(std::string_view name, const std::vector<std::string_view>& names) {
  return "there is no pass \"" + std::string(name) + "\"" + DidYouMean(name, names) +
         " (deuteron opt --list-passes lists them)";
}

std::vector<std::string_view> PassNames() {
  std::vector<std::string_view> names;
  for (const PassEntry& entry : AllPasses()) names.emplace_back(entry.name);
  return names;
}

/// What is wrong with the argument `name` of a pass; empty if it takes one of that name, or if the value is none: that
/// is the default of whatever TVM's pass of that name takes.
std::string NoSuchArgument(const PassEntry& entry, const std::string& name, const json& value) {
  if (value.is_null()) return "";
  const std::vector<std::string_view> names(entry.parameters.begin(), entry.parameters.end());
  if (std::find(names.begin(), names.end(), name) != names.end()) return "";
  std::string all;
  for (const std::string_view known : names) all += (all.empty() ? "; it takes " : ", ") + std::string(known);
  return std::string(entry.name) + " has no argument \"" + name + "\"" + DidYouMean(name, names) +
         (all.empty() ? "; it takes none" : all);
}

/// Adds the names of the passes that `pass` runs as its parts.
void AddParts(const transform::Pass& pass, std::set<std::string>* names) {
  const auto* list = pass.as<transform::SequentialNode>();
  if (list == nullptr) return;
  for (const transform::Pass& part : list->passes) {
    names->insert(part->info.name);
    AddParts(part, names);
  }
}

/// What ends a word in text.
constexpr std::string_view kDelimiters = ",()[]{}=: \t\n\"'";

/// A word of text as what it stands for: true, false, none, a number, else itself.
json WordValue(const std::string& word) {
  if (word == "true" || word == "True") return true;
  if (word == "false" || word == "False") return false;
  if (word == "none" || word == "None") return nullptr;
  const char* end = word.data() + word.size();
  int64_t integer = 0;
  if (const auto result = std::from_chars(word.data(), end, integer); result.ec == std::errc() && result.ptr == end) {
    return integer;
  }
  double number = 0;
  if (const auto result = std::from_chars(word.data(), end, number); result.ec == std::errc() && result.ptr == end) {
    return number;
  }
  return word;
}

std::string Quoted(const std::string& text) {
  const char quote = text.find('\'') == std::string::npos ? '\'' : '"';
  return quote + text + quote;
}

/// `value` as text that is read as it.
std::string ArgumentText(const json& value) {
  std::string text;
  if (value.is_array()) {
    for (const json& item : value) text += (text.empty() ? "" : ",") + ArgumentText(item);
    return "[" + text + "]";
  }
  if (value.is_object()) {
    for (const auto& [key, item] : value.items()) {
      const bool is_word = !key.empty() && key.find_first_of(kDelimiters) == std::string::npos;
      text += (text.empty() ? "" : ",") + (is_word ? key : Quoted(key)) + ":" + ArgumentText(item);
    }
    return "{" + text + "}";
  }
  if (value.is_null()) return "none";
  if (!value.is_string()) return value.dump();
  const auto word = value.get<std::string>();
  const bool is_plain =
      !word.empty() && word.find_first_of(kDelimiters) == std::string::npos && WordValue(word).is_string();
  return is_plain ? word : Quoted(word);
}

std::string CallText(const PassCall& call) {
  std::string arguments;
  for (const auto& [name, value] : call.arguments) {
    arguments += (arguments.empty() ? "" : ",") + name + "=" + ArgumentText(value);
  }
  return arguments.empty() ? call.name : call.name + "(" + arguments + ")";
}

/// The pass, with the text that names it. (One that its maker shares keeps its name alone.)
transform::Pass MakeCalled(const PassCall& call) {
  const PassEntry* entry = FindPass(call.name);
  if (entry == nullptr) DEUTERON_THROW(UsageError) << NoSuchPass(call.name, PassNames());
  for (const auto& [name, value] : call.arguments) {
    const std::string problem = NoSuchArgument(*entry, name, value);
    if (!problem.empty()) DEUTERON_THROW(UsageError) << problem;
  }
  transform::Pass pass = entry->make(PassArguments(call.name, call.arguments));
  if (pass.unique()) const_cast<transform::PassNode*>(pass.get())->info.invocation = CallText(call);
  return pass;
}

/// Reads the text of `ParsePassCalls`.
class PassListParser {
 public:
  explicit PassListParser(std::string_view text) : text_(text) {}

  std::vector<PassCall> Run() {
    std::vector<PassCall> calls;
    SkipBlanks();
    while (at_ < text_.size()) {
      calls.push_back(One());
      SkipBlanks();
      if (at_ >= text_.size()) break;
      Expect(',');
      SkipBlanks();
    }
    return calls;
  }

 private:
  [[noreturn]] void Fail(const std::string& message) const {
    DEUTERON_THROW(UsageError) << "passes: " << message << "\n    " << text_ << "\n    "
                               << std::string(std::min(at_, text_.size()), ' ') << "^";
  }
  [[noreturn]] void FailAt(size_t at, const std::string& message) {
    at_ = at;
    Fail(message);
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
    while (at_ < text_.size() && kDelimiters.find(text_[at_]) == std::string_view::npos) ++at_;
    if (at_ == begin) Fail("expected a name or a value");
    return std::string(text_.substr(begin, at_ - begin));
  }

  PassCall One() {
    const size_t begin = at_;
    PassCall call{Word()};
    const PassEntry* entry = FindPass(call.name);
    if (entry == nullptr) FailAt(begin, NoSuchPass(call.name, PassNames()));
    if (Accept('(')) {
      while (!Accept(')')) {
        SkipBlanks();
        const size_t key_at = at_;
        const std::string key = Word();
        if (call.arguments.count(key)) FailAt(key_at, "argument " + key + " is given twice");
        Expect('=');
        const json value = Value(0);
        if (const std::string problem = NoSuchArgument(*entry, key, value); !problem.empty()) FailAt(key_at, problem);
        call.arguments[key] = value;
        if (!Accept(',')) {
          Expect(')');
          break;
        }
      }
    }
    return call;
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
        SkipBlanks();
        const size_t key_at = at_;
        const json value = Value(depth + 1);
        const std::string key = value.is_string() ? value.get<std::string>() : value.dump();
        if (dict.contains(key)) FailAt(key_at, "key " + key + " is given twice");
        Expect(':');
        dict[key] = Value(depth + 1);
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
    return WordValue(Word());
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
  DEUTERON_THROW(UsageError) << pass_ << ": argument " << name << " is " << expected << ", not "
                             << values_.at(name).dump();
}

int64_t PassArguments::Int(const char* name, int64_t fallback) const {
  const json* value = Find(name);
  if (value == nullptr) return fallback;
  if (!value->is_number_integer()) Fail(name, "an integer");
  return value->get<int64_t>();
}

int64_t PassArguments::IntIn(const char* name, int64_t fallback, int64_t least, int64_t greatest) const {
  const int64_t value = Int(name, fallback);
  if (value >= least && value <= greatest) return value;
  Fail(name, ("an integer from " + std::to_string(least) + " to " + std::to_string(greatest)).c_str());
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

std::map<std::string, std::vector<std::string>> PassArguments::StringLists(const char* name) const {
  constexpr const char* kExpected = "a dictionary of lists of names, {a: [b, c]}";
  const json* value = Find(name);
  if (value == nullptr) return {};
  if (!value->is_object()) Fail(name, kExpected);
  std::map<std::string, std::vector<std::string>> lists;
  for (const auto& [key, list] : value->items()) {
    if (!list.is_array()) Fail(name, kExpected);
    for (const json& item : list) {
      if (!item.is_string()) Fail(name, kExpected);
      lists[key].push_back(item.get<std::string>());
    }
  }
  return lists;
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

transform::Pass MakePass(const std::string& name) { return MakeCalled({name}); }

void CheckPassName(const std::string& name) {
  if (FindPass(name) != nullptr) return;
  std::set<std::string> parts;
  for (const PassEntry& entry : AllPasses()) {
    try {
      AddParts(entry.make(PassArguments(entry.name)), &parts);
    } catch (const tvm::ffi::Error&) {
      // It takes an argument; such passes have no parts.
    }
  }
  if (parts.count(name)) return;
  std::vector<std::string_view> names = PassNames();
  names.insert(names.end(), parts.begin(), parts.end());
  DEUTERON_THROW(UsageError) << NoSuchPass(name, names);
}

std::vector<PassCall> ParsePassCalls(std::string_view text) { return PassListParser(text).Run(); }

std::string PassText(std::span<const PassCall> calls) {
  std::string text;
  for (const PassCall& call : calls) text += (text.empty() ? "" : ",") + CallText(call);
  return text;
}

std::vector<transform::Pass> MakePasses(std::span<const PassCall> calls) {
  std::vector<transform::Pass> passes;
  for (const PassCall& call : calls) passes.push_back(MakeCalled(call));
  return passes;
}

std::vector<transform::Pass> ParsePasses(std::string_view text) { return MakePasses(ParsePassCalls(text)); }

}  // namespace deuteron
