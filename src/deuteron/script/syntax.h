/// \file
/// Expressions of Python as trees, before they mean anything.
#pragma once

#include <span>
#include <string_view>
#include <utility>

#include "deuteron/script/lexer.h"

namespace deuteron::script {

enum class SyntaxKind : uint8_t {
  kName,
  kInt,
  kFloat,
  kString,
  kBool,
  kNone,
  kTuple,
  kList,
  kDict,
  kUnary,
  kBinary,
  kAttribute,
  kCall,
  kSubscript,
  kSlice,
  kLambda,
  kConditional,
};

struct Syntax;

/// `name=value` in a call.
struct Keyword {
  std::string_view name;
  const Syntax* value;
};

/// A node. It lives until the statement that it belongs to has been read.
struct Syntax {
  SyntaxKind kind = SyntaxKind::kNone;
  /// Nesting below, bounded.
  int height = 0;
  /// What it spans in the text; parentheses around it are outside.
  size_t at = 0;
  size_t end = 0;
  /// kName, kAttribute: the name; kUnary, kBinary: the operator ("not", "and", "+", …).
  std::string_view text;
  /// kName, kAttribute: the dotted name "R.nn.conv2d"; kCall: that of what is called. Empty if it is no chain of names.
  std::string_view dotted;
  /// kString: its token.
  Token token{};
  /// kInt: two's complement of the value; kBool.
  int64_t int_value = 0;
  double float_value = 0;
  /// kAttribute, kCall, kSubscript, kUnary: what it applies to. kLambda: its body.
  const Syntax* base = nullptr;
  /// Elements; arguments; operands; kDict: key, value, key, value, …; kSlice: start, stop, step (may be null);
  /// kLambda: parameters; kConditional: the condition, the value if it holds, the value if not.
  std::span<const Syntax* const> items;
  std::span<const Keyword> keywords;

  bool Is(SyntaxKind k) const { return kind == k; }
  bool IsSequence() const { return kind == SyntaxKind::kTuple || kind == SyntaxKind::kList; }
  bool IsLiteral() const {
    return kind == SyntaxKind::kInt || kind == SyntaxKind::kFloat ||
           (kind == SyntaxKind::kUnary && text == "-" &&
            (base->kind == SyntaxKind::kInt || base->kind == SyntaxKind::kFloat));
  }
  const Syntax* Find(std::string_view name) const {
    for (const auto& [key, value] : keywords) {
      if (key == name) return value;
    }
    return nullptr;
  }
};

}  // namespace deuteron::script
