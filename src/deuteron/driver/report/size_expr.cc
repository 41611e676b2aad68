#include "deuteron/driver/report/size_expr.h"

#include <algorithm>
#include <cctype>
#include <limits>

namespace deuteron::report {
namespace {

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();

int64_t SaturatingMul(int64_t a, int64_t b) {
  int64_t product = 0;
  if (!__builtin_mul_overflow(a, b, &product)) return product;
  return (a < 0) == (b < 0) ? kMost : -kMost;
}
int64_t SaturatingAdd(int64_t a, int64_t b) {
  int64_t sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return a < 0 ? -kMost : kMost;
}

int64_t FloorDiv(int64_t a, int64_t b) { return a / b - ((a % b != 0 && (a < 0) != (b < 0)) ? 1 : 0); }

/// Recursive descent over sums, products and calls. Depth is that of the parentheses in one dimension.
class SizeParser {
 public:
  SizeParser(std::string_view text, const Symbols& symbols) : text_(text), symbols_(symbols) {}

  std::optional<SizeExpr> Parse() {
    SizeExpr result = Sum();
    Skip();
    if (failed_ || position_ != text_.size()) return std::nullopt;
    return result;
  }

 private:
  void Skip() {
    while (position_ < text_.size() && text_[position_] == ' ') ++position_;
  }
  bool Take(std::string_view token) {
    Skip();
    if (text_.substr(position_, token.size()) != token) return false;
    position_ += token.size();
    return true;
  }
  SizeExpr Fail() {
    failed_ = true;
    return {};
  }

  SizeExpr Sum() {
    SizeExpr sum = Product();
    while (!failed_) {
      if (Take("+")) {
        sum += Product();
      } else if (Take("-")) {
        sum -= Product();
      } else {
        break;
      }
    }
    return sum;
  }
  SizeExpr Product() {
    SizeExpr product = Factor();
    while (!failed_) {
      if (Take("//")) {
        product = Apply("//", product, Factor());
      } else if (Take("%")) {
        product = Apply("%", product, Factor());
      } else if (Take("*")) {
        product = product * Factor();
      } else {
        break;
      }
    }
    return product;
  }
  /// A quotient, a remainder, a minimum: a number where both are, else one opaque factor.
  static SizeExpr Apply(const std::string& op, const SizeExpr& a, const SizeExpr& b) {
    const auto x = a.number();
    const auto y = b.number();
    if (x && y) {
      if (op == "min") return std::min(*x, *y);
      if (op == "max") return std::max(*x, *y);
      if (*y == 0) return SizeExpr::Unknown();
      return op == "//" ? FloorDiv(*x, *y) : *x - FloorDiv(*x, *y) * *y;
    }
    if (a.unknown() || b.unknown()) return SizeExpr::Unknown();
    if (op == "min" || op == "max") return SizeExpr::Opaque(op + "(" + a.Text() + ", " + b.Text() + ")");
    const auto operand = [](const SizeExpr& e) {
      const std::string text = e.Text();
      const bool plain =
          std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
      return plain ? text : "(" + text + ")";
    };
    return SizeExpr::Opaque("(" + operand(a) + " " + op + " " + operand(b) + ")");
  }

  SizeExpr Factor() {
    Skip();
    if (position_ == text_.size() || failed_) return Fail();
    if (Take("(")) {
      if (++depth_ > 200) return Fail();
      SizeExpr inner = Sum();
      --depth_;
      return Take(")") ? inner : Fail();
    }
    if (Take("-")) return SizeExpr(-1) * Factor();
    const auto is_word = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_' || c == '.'; };
    const size_t begin = position_;
    while (position_ < text_.size() && is_word(static_cast<unsigned char>(text_[position_]))) ++position_;
    std::string word(text_.substr(begin, position_ - begin));
    if (word.empty()) return Fail();
    if (std::isdigit(static_cast<unsigned char>(word[0])) != 0) {
      int64_t number = 0;
      for (const char c : word) {
        if (std::isdigit(static_cast<unsigned char>(c)) == 0) return Fail();
        number = SaturatingAdd(SaturatingMul(number, 10), c - '0');
      }
      return number;
    }
    if (Take("(")) return Call(word);
    const auto it = symbols_.find(word);
    return it == symbols_.end() ? SizeExpr::Opaque(word) : SizeExpr(it->second);
  }
  SizeExpr Call(std::string function) {
    if (function.rfind("T.", 0) == 0) function = function.substr(2);
    SizeExpr a = Sum();
    if (function == "int64" || function == "int32") return Take(")") ? a : Fail();
    if ((function != "min" && function != "max") || !Take(",")) return Fail();
    SizeExpr b = Sum();
    return Take(")") ? Apply(function, a, b) : Fail();
  }

  std::string_view text_;
  const Symbols& symbols_;
  size_t position_ = 0;
  int depth_ = 0;
  bool failed_ = false;
};

}  // namespace

SizeExpr::SizeExpr(int64_t number) { AddTerm({}, number); }

SizeExpr SizeExpr::Unknown() {
  SizeExpr unknown;
  unknown.unknown_ = true;
  return unknown;
}

SizeExpr SizeExpr::Opaque(std::string text) {
  SizeExpr factor;
  factor.AddTerm({std::move(text)}, 1);
  return factor;
}

void SizeExpr::AddTerm(const Factors& factors, int64_t coefficient) {
  auto [it, inserted] = terms_.try_emplace(factors, 0);
  it->second = SaturatingAdd(it->second, coefficient);
  if (it->second == 0) terms_.erase(it);
}

SizeExpr& SizeExpr::operator+=(const SizeExpr& other) {
  unknown_ |= other.unknown_;
  for (const auto& [factors, coefficient] : other.terms_) AddTerm(factors, coefficient);
  return *this;
}

SizeExpr& SizeExpr::operator-=(const SizeExpr& other) { return *this += SizeExpr(-1) * other; }

SizeExpr operator*(const SizeExpr& a, const SizeExpr& b) {
  SizeExpr product;
  product.unknown_ = a.unknown_ || b.unknown_;
  for (const auto& [x, p] : a.terms_) {
    for (const auto& [y, q] : b.terms_) {
      SizeExpr::Factors factors = x;
      factors.insert(factors.end(), y.begin(), y.end());
      std::sort(factors.begin(), factors.end());
      product.AddTerm(factors, SaturatingMul(p, q));
    }
  }
  return product;
}

std::optional<int64_t> SizeExpr::number() const {
  if (unknown_) return std::nullopt;
  if (terms_.empty()) return 0;
  if (terms_.size() == 1 && terms_.begin()->first.empty()) return terms_.begin()->second;
  return std::nullopt;
}

double SizeExpr::Rank() const {
  double rank = 0;
  for (const auto& [factors, coefficient] : terms_) {
    double term = static_cast<double>(coefficient);
    for (size_t i = 0; i < factors.size(); ++i) term *= 16;
    rank += term;
  }
  return rank;
}

std::string SizeExpr::Text() const {
  if (unknown_) return "?";
  std::string text;
  // Terms of many factors first, the number last.
  std::vector<std::pair<Factors, int64_t>> terms(terms_.begin(), terms_.end());
  std::stable_sort(terms.begin(), terms.end(),
                   [](const auto& a, const auto& b) { return a.first.size() > b.first.size(); });
  for (const auto& [factors, coefficient] : terms) {
    const int64_t magnitude = coefficient < 0 ? -coefficient : coefficient;
    if (text.empty()) {
      if (coefficient < 0) text += "-";
    } else {
      text += coefficient < 0 ? " - " : " + ";
    }
    std::string product;
    if (magnitude != 1 || factors.empty()) product = std::to_string(magnitude);
    for (const std::string& factor : factors) product += (product.empty() ? "" : " * ") + factor;
    text += product;
  }
  return text.empty() ? "0" : text;
}

SizeExpr SizeExpr::Parse(std::string_view text, const Symbols& symbols) {
  return SizeParser(text, symbols).Parse().value_or(Unknown());
}

}  // namespace deuteron::report
