/// \file
/// Reads dimensions, dtypes, devices, and the values of attributes.
#include "deuteron/script/parser_impl.h"
#include "deuteron/tir/index_map.h"

namespace deuteron::script {

std::optional<DataType> Parser::DtypeName(std::string_view dotted) const {
  if (dotted.starts_with("T.")) dotted.remove_prefix(2);
  if (dotted.starts_with("tir.")) dotted.remove_prefix(4);
  static const std::unordered_map<std::string_view, DataType> kNames = [] {
    std::unordered_map<std::string_view, DataType> names;
    for (const char* name : {"bool",           "int8",
                             "int16",          "int32",
                             "int64",          "uint8",
                             "uint16",         "uint32",
                             "uint64",         "float16",
                             "float32",        "float64",
                             "bfloat16",       "handle",
                             "int4",           "uint4",
                             "int1",           "int2",
                             "uint1",          "uint2",
                             "float8_e3m4",    "float8_e4m3",
                             "float8_e4m3fn",  "float8_e4m3b11fnuz",
                             "float8_e5m2",    "float8_e4m3fnuz",
                             "float8_e8m0fnu", "float8_e5m2fnuz",
                             "float4_e2m1fn",  "float6_e2m3fn",
                             "float6_e3m2fn"}) {
      names.emplace(name, DataType(name));
    }
    names.emplace("boolean", DataType::Bool());
    return names;
  }();
  const auto it = kNames.find(dotted);
  if (it != kNames.end()) return it->second;
  // A vector: float32x4.
  const size_t x = dotted.rfind('x');
  if (x == std::string_view::npos || x == 0 || x + 1 >= dotted.size() || dotted.size() - x > 5) return std::nullopt;
  const auto element = kNames.find(dotted.substr(0, x));
  int lanes = 0;
  for (const char c : dotted.substr(x + 1)) {
    if (c < '0' || c > '9') return std::nullopt;
    lanes = lanes * 10 + (c - '0');
  }
  if (element == kNames.end() || lanes == 0) return std::nullopt;
  return element->second.with_lanes(lanes);
}

DataType Parser::DtypeOf(const Syntax& node) {
  if (node.Is(SyntaxKind::kString)) {
    const std::string text = StringValue(source_, node.token);
    if (text.empty() || text == "void") return DataType::Void();
    if (const auto dtype = DtypeName(text)) return *dtype;
    Fail(node, "there is no dtype \"" + text + "\"");
  }
  if (node.Is(SyntaxKind::kCall) && node.dotted == "R.dtype" && node.items.size() == 1) return DtypeOf(*node.items[0]);
  if (const auto dtype = DtypeName(node.dotted)) return *dtype;
  Fail(node, "expected a dtype, such as \"float32\"");
}

std::string Parser::StringOf(const Syntax& node, const char* what) {
  if (node.Is(SyntaxKind::kString)) return StringValue(source_, node.token);
  if (node.Is(SyntaxKind::kCall) && node.dotted == "R.str" && node.items.size() == 1)
    return StringOf(*node.items[0], what);
  Fail(node, std::string("expected ") + what + ", a string");
}

int64_t Parser::IntOf(const Syntax& node, const char* what) {
  if (node.Is(SyntaxKind::kInt)) return node.int_value;
  if (node.Is(SyntaxKind::kUnary) && node.IsLiteral() && node.base->Is(SyntaxKind::kInt)) {
    return static_cast<int64_t>(-static_cast<uint64_t>(node.base->int_value));
  }
  if (node.Is(SyntaxKind::kCall) || node.Is(SyntaxKind::kBool)) {
    if (const auto value = AsConstInt(Prim(node))) return *value;
  }
  Fail(node, std::string("expected ") + what + ", an integer");
}

bool Parser::BoolOf(const Syntax& node, const char* what) {
  if (node.Is(SyntaxKind::kBool) || node.Is(SyntaxKind::kInt)) return node.int_value != 0;
  Fail(node, std::string("expected ") + what + ", True or False");
}

tir::Var Parser::Symbol(std::string_view name, DataType dtype) {
  tir::Var var(ToString(name), dtype);
  scopes_.Define(name, var);
  ForgetTypes();
  if (header_ != nullptr && in_signature_) header_->names.emplace_back(name, var);
  return var;
}

PrimExpr Parser::Dimension(const Syntax& node) {
  if (node.Is(SyntaxKind::kString)) {
    const Syntax* inner = tokens_.InString(node.token);
    const Temporarily signature(&in_signature_, true);
    return Prim(*inner);
  }
  if (node.IsLiteral()) {
    if (node.Is(SyntaxKind::kFloat) || (node.base != nullptr && node.base->Is(SyntaxKind::kFloat))) {
      Fail(node, "expected a dimension, an integer");
    }
    return PrimLiteral(node, default_int_);
  }
  PrimExpr dim = Prim(node);
  if (!dim.dtype().is_integer() || dim.dtype().is_vector()) Fail(node, "expected a dimension, an integer");
  return dim;
}

Array<PrimExpr> Parser::Dimensions(const Syntax& node) {
  if (node.IsSequence()) {
    Array<PrimExpr> dims;
    dims.reserve(static_cast<int64_t>(node.items.size()));
    for (const Syntax* item : node.items) dims.push_back(Dimension(*item));
    return dims;
  }
  if (node.Is(SyntaxKind::kCall) && node.items.size() == 1 &&
      (node.dotted == "R.shape" || node.dotted == "relax.shape")) {
    return Dimensions(*node.items[0]);
  }
  return {Dimension(node)};
}

VDevice Parser::Device(const Syntax& node) {
  if (node.Is(SyntaxKind::kCall)) {
    std::string target = "llvm";
    if (!node.items.empty()) {
      if (node.items[0]->Is(SyntaxKind::kDict)) {
        const auto kind = Dict(*node.items[0]).Get("kind");
        if (kind && kind->try_cast<String>()) target = std::string(kind->cast<String>());
      } else {
        target = StringOf(*node.items[0], "a target");
      }
    }
    return VDevice(target, node.items.size() > 1 ? IntOf(*node.items[1], "the number of the device") : 0,
                   node.items.size() > 2 ? StringOf(*node.items[2], "a memory scope") : "global");
  }
  // "target:index:scope", where "vdevice:0" counts all of them.
  const std::string text = StringOf(node, "a device");
  std::vector<std::string> parts;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(':', begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  const int64_t index = parts.size() > 1 ? std::atoll(parts[1].c_str()) : 0;
  if (parts[0] == "vdevice") {
    if (index < 0 || index >= static_cast<int64_t>(devices_.size())) Fail(node, "the module declares no such device");
    return devices_[static_cast<size_t>(index)];
  }
  // Devices of one target count from 0, in the order in which the module declares them.
  int64_t number = 0;
  for (const VDevice& device : devices_) {
    if (std::string(device->target) == parts[0] && number++ == index) return device;
  }
  return VDevice(parts[0], index, parts.size() > 2 ? parts[2] : "global");
}

ObjectRef Parser::IndexMapOf(const Syntax& lambda) {
  if (!lambda.Is(SyntaxKind::kLambda)) Fail(lambda, "expected T.index_map(lambda i, j: (j, i))");
  const Temporarily default_int(&default_int_, DataType::Int(64));
  const Scopes::Frame frame(&scopes_);
  Array<tir::Var> initial;
  for (const Syntax* param : lambda.items) {
    tir::Var var(ToString(param->text));
    scopes_.Define(param->text, var);
    initial.push_back(var);
  }
  Array<PrimExpr> final_indices;
  if (lambda.base->IsSequence()) {
    for (const Syntax* item : lambda.base->items) final_indices.push_back(Prim(*item));
  } else {
    final_indices.push_back(Prim(*lambda.base));
  }
  return tir::IndexMap(initial, final_indices);
}

Any Parser::Value(const Syntax& node) {
  switch (node.kind) {
    case SyntaxKind::kInt:
      return node.int_value;
    case SyntaxKind::kFloat:
      return node.float_value;
    case SyntaxKind::kBool:
      return node.int_value != 0;
    case SyntaxKind::kNone:
      return Any(nullptr);
    case SyntaxKind::kString:
      return String(StringValue(source_, node.token));
    case SyntaxKind::kUnary:
      if (node.IsLiteral()) {
        if (node.base->Is(SyntaxKind::kFloat)) return -node.base->float_value;
        return static_cast<int64_t>(-static_cast<uint64_t>(node.base->int_value));
      }
      return Prim(node);
    case SyntaxKind::kTuple:
    case SyntaxKind::kList: {
      Array<Any> items;
      for (const Syntax* item : node.items) items.push_back(Value(*item));
      return items;
    }
    case SyntaxKind::kDict:
      return Dict(node);
    case SyntaxKind::kLambda:
      return IndexMapOf(node);
    case SyntaxKind::kName: {
      if (const auto* buffer = AsNode<tir::BufferNode>(Find(node.text))) return GetRef<tir::Buffer>(buffer);
      return Prim(node);
    }
    case SyntaxKind::kCall: {
      const std::string_view name = node.dotted;
      if ((name == "T.index_map" || name == "tir.index_map") && !node.items.empty()) return IndexMapOf(*node.items[0]);
      if (name == "float" && node.items.size() == 1)
        return Downcast<tir::FloatImm>(TypedValue(node, DataType::Float(64)))->value;
      if (name == "R.str") return String(StringOf(node, "a string"));
      if (name == "R.dtype" && node.items.size() == 1) return DtypeOf(*node.items[0]);
      if (name == "I.vdevice") return Device(node);
      if (name == "R.const") return ConstantOf(node);
      if (name.starts_with("R.")) return TypeOf(node);
      return Prim(node);
    }
    case SyntaxKind::kAttribute:
      if (node.dotted.starts_with("R.")) return TypeOf(node);
      return Prim(node);
    case SyntaxKind::kSubscript: {
      const Syntax& base = *node.base;
      const bool is_constant =
          base.Is(SyntaxKind::kSubscript) && base.base->Is(SyntaxKind::kName) && base.base->text == "metadata";
      if (is_constant && node.items.size() == 1) return ConstantAt(node);
      return Prim(node);
    }
    case SyntaxKind::kBinary:
    case SyntaxKind::kSlice:
    case SyntaxKind::kConditional:
      return Prim(node);
  }
  DEUTERON_UNREACHABLE();
}

Map<String, Any> Parser::Dict(const Syntax& node) {
  if (!node.Is(SyntaxKind::kDict)) Fail(node, "expected a dictionary");
  Map<String, Any> dict;
  for (size_t i = 0; i + 1 < node.items.size(); i += 2) {
    dict.Set(StringOf(*node.items[i], "a key"), Value(*node.items[i + 1]));
  }
  return dict;
}

}  // namespace deuteron::script
