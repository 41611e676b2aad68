/// \file
/// Reads attributes of operators.
#include "deuteron/script/parser_impl.h"

namespace deuteron::script {

const KnownOp& Parser::FindOp(const Syntax& node, std::string_view name) {
  if (const KnownOp* const* found = ops_.Find(name)) return **found;
  KnownOp known = DescribeOp(name);
  if (known.info == nullptr) Unsupported(node, "unknown operator R." + std::string(name));
  return *(ops_[name] = &known_ops_.emplace_back(std::move(known)));
}

bool Parser::SetAttr(Object* attrs, const TVMFFIFieldInfo* field, const Syntax& node, std::string_view op) {
  const Temporarily default_int(&default_int_, DataType::Int(64));
  if (TrySetAttr(attrs, field, Value(node))) return true;
  // Of what cannot be nothing, None means the default.
  if (node.Is(SyntaxKind::kNone)) return false;
  Fail(node, "attribute " + Quote(NameOf(field)) + " of R." + std::string(op) + " is not of this type");
}

}  // namespace deuteron::script
