#include "deuteron/relax/dpl/pattern_text.h"

#include <cctype>
#include <charconv>

namespace deuteron::relax::dpl {
namespace {

constexpr int kMostNested = 200;

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  ParsedPattern Run() {
    DFPattern pattern = Either();
    SkipBlanks();
    if (at_ < text_.size()) Fail("expected the end of the pattern");
    return {std::move(pattern), std::move(named_)};
  }

 private:
  [[noreturn]] void Fail(const std::string& message) const {
    DEUTERON_THROW(UsageError) << "pattern: " << message << "\n    " << text_ << "\n    "
                               << std::string(std::min(at_, text_.size()), ' ') << "^";
  }
  void SkipBlanks() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
  }
  bool Accept(std::string_view token) {
    SkipBlanks();
    if (text_.substr(at_, token.size()) != token) return false;
    at_ += token.size();
    return true;
  }
  void Expect(std::string_view token) {
    if (!Accept(token)) Fail("expected `" + std::string(token) + "`");
  }
  static bool IsNameChar(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.'; }
  /// Letters, digits, `_` and `.`; may be empty.
  std::string Name() {
    SkipBlanks();
    const size_t begin = at_;
    while (at_ < text_.size() && IsNameChar(text_[at_])) {
      if (text_.substr(at_, 3) == "...") break;
      ++at_;
    }
    return std::string(text_.substr(begin, at_ - begin));
  }
  std::string RequiredName(const char* what) {
    std::string name = Name();
    if (name.empty()) Fail(std::string("expected ") + what);
    return name;
  }
  int64_t Integer() {
    SkipBlanks();
    int64_t value = 0;
    const char* begin = text_.data() + at_;
    const auto result = std::from_chars(begin, text_.data() + text_.size(), value);
    if (result.ec != std::errc()) Fail("expected an integer");
    at_ += static_cast<size_t>(result.ptr - begin);
    return value;
  }

  DFPattern Either() {
    DFPattern pattern = Both();
    while (Accept("|")) pattern = pattern | Both();
    return pattern;
  }
  DFPattern Both() {
    DFPattern pattern = Sum();
    while (Accept("&")) pattern = pattern & Sum();
    return pattern;
  }
  DFPattern Sum() {
    DFPattern pattern = Product();
    while (true) {
      if (Accept("+")) {
        pattern = pattern + Product();
      } else if (Accept("-")) {
        pattern = pattern - Product();
      } else {
        return pattern;
      }
    }
  }
  DFPattern Product() {
    DFPattern pattern = Unary();
    while (true) {
      if (Accept("*")) {
        pattern = pattern * Unary();
      } else if (Accept("/")) {
        pattern = pattern / Unary();
      } else {
        return pattern;
      }
    }
  }
  DFPattern Unary() {
    if (++depth_ > kMostNested) Fail("nested too deeply");
    DFPattern pattern = Accept("~") ? ~Unary() : Postfix(Primary());
    --depth_;
    return pattern;
  }

  DFPattern Postfix(DFPattern pattern) {
    while (true) {
      if (Accept("[")) {
        const bool any = Accept("]");
        pattern = pattern[any ? -1 : Integer()];
        if (!any) Expect("]");
      } else if (Accept(":")) {
        if (Accept("(")) {
          Array<PrimExpr> dims;
          while (!Accept(")")) {
            dims.push_back(I64(Integer()));
            if (!Accept(",")) {
              Expect(")");
              break;
            }
          }
          pattern = pattern.HasShape(std::move(dims));
        } else {
          pattern = pattern.HasDtype(RequiredName("a dtype or a shape"));
        }
      } else if (Accept("{")) {
        pattern = pattern.HasAttr(Attributes());
      } else if (Accept("(")) {
        pattern = Call(pattern);
      } else {
        return pattern;
      }
    }
  }

  DFPattern Call(const DFPattern& callee) {
    Array<DFPattern> args;
    bool more = false;
    while (!Accept(")")) {
      if (Accept("...")) {
        more = true;
        Expect(")");
        break;
      }
      args.push_back(Either());
      if (!Accept(",")) {
        Expect(")");
        break;
      }
    }
    return CallPattern(callee, std::move(args), more);
  }

  Map<String, Any> Attributes() {
    Map<String, Any> attrs;
    while (!Accept("}")) {
      const std::string key = RequiredName("the name of an attribute");
      Expect("=");
      attrs.Set(key, AttributeValue());
      if (!Accept(",")) {
        Expect("}");
        break;
      }
    }
    return attrs;
  }

  Any AttributeValue() {
    if (Accept("[")) {
      Array<Any> values;
      while (!Accept("]")) {
        values.push_back(AttributeValue());
        if (!Accept(",")) {
          Expect("]");
          break;
        }
      }
      return values;
    }
    SkipBlanks();
    if (at_ < text_.size() && (text_[at_] == '-' || std::isdigit(static_cast<unsigned char>(text_[at_])) != 0)) {
      const char* begin = text_.data() + at_;
      double value = 0;
      const auto result = std::from_chars(begin, text_.data() + text_.size(), value);
      if (result.ec != std::errc()) Fail("expected a number");
      const std::string_view digits(begin, static_cast<size_t>(result.ptr - begin));
      if (digits.find_first_of(".eE") == std::string_view::npos) return Integer();
      at_ += digits.size();
      return value;
    }
    const std::string word = RequiredName("a value");
    if (word == "true" || word == "True") return true;
    if (word == "false" || word == "False") return false;
    if (word == "none" || word == "None") return nullptr;
    return String(word);
  }

  DFPattern Primary() {
    if (Accept("(")) {
      DFPattern pattern = Either();
      Expect(")");
      return pattern;
    }
    if (Accept("$")) return Named();
    if (Accept("@")) return IsGlobalVar(Name());
    const size_t begin = at_;
    const std::string word = RequiredName("a pattern");
    if (word == "_") return Wildcard();
    if (word == "const") return IsConst();
    if (word == "var") return IsVar();
    if (word == "dataflow_var") return IsDataflowVar();
    if (word == "extern") return ExternFuncPattern(Name());
    if (word == "tuple" || word == "unordered_tuple") {
      Expect("(");
      const DFPattern call = Call(Wildcard());
      const auto* fields = call.as<CallPatternNode>();
      if (fields->varg_default_wildcard) Fail("a tuple has all its fields");
      return IsTuple(fields->args, word != "tuple");
    }
    try {
      return IsOp(word);
    } catch (const ffi::Error& error) {
      at_ = begin;
      SkipBlanks();
      Fail(error.message());
    }
  }

  DFPattern Named() {
    const std::string name = RequiredName("a name after `$`");
    if (!Accept("=")) {
      const auto it = named_.find(name);
      if (it == named_.end()) Fail("there is no part $" + name + " before this");
      return (*it).second;
    }
    if (named_.count(name) != 0) Fail("there is a part $" + name + " already");
    DFPattern pattern = Postfix(Primary());
    named_.Set(name, pattern);
    return pattern;
  }

  std::string_view text_;
  size_t at_ = 0;
  int depth_ = 0;
  Map<String, DFPattern> named_;
};

}  // namespace

ParsedPattern ParsePattern(std::string_view text) { return Parser(text).Run(); }

}  // namespace deuteron::relax::dpl
