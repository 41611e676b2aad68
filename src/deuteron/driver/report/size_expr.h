/// \file
/// Sizes that may depend on symbolic dimensions: polynomials in them, from and to text.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace deuteron::report {

/// Values of symbolic dimensions by name.
using Symbols = std::map<std::string, int64_t>;

/// A sum of products of whole numbers, dimensions, and what is neither sum nor product of them (`(n + 7) // 8`), kept
/// as text. Numbers saturate.
class SizeExpr {
 public:
  SizeExpr() = default;
  SizeExpr(int64_t number);  // NOLINT: a number is a size
  /// Reads what relax::Describe prints: `4 * n * (m + 1) + 64`, `n // 2`, `min(n, 4)`; names in `symbols` are replaced.
  /// "?" and what cannot be read are unknown.
  static SizeExpr Parse(std::string_view text, const Symbols& symbols = {});
  static SizeExpr Unknown();
  /// `text` as one factor.
  static SizeExpr Opaque(std::string text);

  SizeExpr& operator+=(const SizeExpr& other);
  SizeExpr& operator-=(const SizeExpr& other);
  friend SizeExpr operator+(SizeExpr a, const SizeExpr& b) { return a += b; }
  friend SizeExpr operator-(SizeExpr a, const SizeExpr& b) { return a -= b; }
  friend SizeExpr operator*(const SizeExpr& a, const SizeExpr& b);
  bool operator==(const SizeExpr& other) const = default;

  /// The number it is; nothing if it depends on symbols or is unknown.
  std::optional<int64_t> number() const;
  /// A number to sort by: every symbol is taken as 16, the unknown as 0.
  double Rank() const;
  bool unknown() const { return unknown_; }
  /// Parse of this is equal to it. "?" if unknown.
  std::string Text() const;

 private:
  using Factors = std::vector<std::string>;
  void AddTerm(const Factors& factors, int64_t coefficient);

  std::map<Factors, int64_t> terms_;
  bool unknown_ = false;
};

}  // namespace deuteron::report
