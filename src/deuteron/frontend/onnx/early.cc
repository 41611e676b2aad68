#include "deuteron/frontend/onnx/early.h"

#include <cmath>
#include <unordered_map>

#include "deuteron/frontend/onnx/tensor.h"

namespace deuteron::onnx {
namespace {

/// The node as it is, and as it becomes.
struct Change {
  const NodeContext& from;
  NodeWithInputs& to;

  AttributeProto& Set(std::string_view name, AttributeType type) const {
    std::vector<AttributeProto>& attributes = to.node.attributes;
    std::erase_if(attributes, [&](const AttributeProto& attribute) { return attribute.name == name; });
    attributes.emplace_back();
    attributes.back().name = name;
    attributes.back().type = type;
    return attributes.back();
  }
  void SetInt(std::string_view name, int64_t value) const { Set(name, AttributeType::kInt).i = value; }
  void SetFloat(std::string_view name, float value) const { Set(name, AttributeType::kFloat).f = value; }
  void SetInts(std::string_view name, std::vector<int64_t> values) const {
    Set(name, AttributeType::kInts).ints = std::move(values);
  }
  /// Axes of length 1 after those of input 1.
  void AppendAxes(int64_t count) const {
    Array<PrimExpr> shape = from.Shape(1);
    for (int64_t i = 0; i < count; ++i) shape.push_back(I64(1));
    to.inputs[1] = Value(from.Reshaped(from.X(1), shape));
  }
};

/// The axes of the second operand are those of the first from attribute `axis` on, its last ones if that is left out.
void Broadcast(const Change& change) {
  const NodeContext& from = change.from;
  if (!from.Flag("broadcast", false) || !from.HasAttr("axis")) return;
  const int64_t rank = from.Rank(0);
  const int64_t own = from.Rank(1);
  const int64_t axis = from.Int("axis", 0);
  const int64_t behind = rank - own - (axis < 0 ? axis + rank : axis);
  if (axis < -rank || behind < 0) {
    from.Fail("operands of rank " + std::to_string(rank) + " and " + std::to_string(own) +
              " cannot be broadcast from axis " + std::to_string(axis));
  }
  if (behind > 0) change.AppendAxes(behind);
}

/// A slope for each channel.
void SlopeByChannel(const Change& change) {
  const NodeContext& from = change.from;
  const int64_t rank = from.Rank(0);
  if (rank > 2 && from.Rank(1) == 1 && !IsOne(from.Shape(1)[0])) change.AppendAxes(rank - 2);
}

/// The target by its name.
void CastByName(const Change& change) {
  if (change.from.opset() >= 6) return;
  static const std::unordered_map<std::string, ElementType> kTypes = {
      {"FLOAT", ElementType::kFloat},   {"UINT8", ElementType::kUInt8},   {"INT8", ElementType::kInt8},
      {"UINT16", ElementType::kUInt16}, {"INT16", ElementType::kInt16},   {"INT32", ElementType::kInt32},
      {"INT64", ElementType::kInt64},   {"BOOL", ElementType::kBool},     {"FLOAT16", ElementType::kFloat16},
      {"DOUBLE", ElementType::kDouble}, {"UINT32", ElementType::kUInt32}, {"UINT64", ElementType::kUInt64},
  };
  const std::string name = change.from.Str("to", "");
  const auto type = kTypes.find(name);
  if (type == kTypes.end()) change.from.Unsupported("a cast to '" + name + "'");
  change.SetInt("to", static_cast<int64_t>(type->second));
}

void ConcatOfChannels(const Change& change) {
  if (change.from.opset() < 4 && !change.from.HasAttr("axis")) change.SetInt("axis", 1);
}

void PaddingsAsPads(const Change& change) {
  if (change.from.opset() >= 2) return;
  if (const auto pads = change.from.Ints("paddings")) change.SetInts("pads", *pads);
}

void PowerAsInteger(const Change& change) {
  if (change.from.opset() >= 2) return;
  const double p = change.from.Float("p", 2);
  if (p != std::floor(p) || p < 1 || p > 1e6) change.from.Unsupported("p = " + std::to_string(p));
  change.SetInt("p", static_cast<int64_t>(p));
}

void ShapeAsInput(const Change& change) {
  if (change.from.opset() >= 5) return;
  const auto shape = change.from.Ints("shape");
  if (!shape) change.from.Fail("attribute 'shape' is missing");
  Array<PrimExpr> dims;
  for (const int64_t dim : *shape) dims.push_back(I64(dim));
  change.to.inputs.resize(1);
  change.to.inputs.emplace_back(SymbolicVector(dims));
}

void SeluAsWritten(const Change& change) {
  if (change.from.opset() >= 6) return;
  change.SetFloat("alpha", static_cast<float>(change.from.Float("alpha", 1.6732)));
  change.SetFloat("gamma", static_cast<float>(change.from.Float("gamma", 1.0507)));
}

void SizesAsAttribute(const Change& change) {
  if (change.from.opset() >= 2 || !change.from.Has(1)) return;
  change.SetInts("split", change.from.RequireInts(1, "the sizes of the parts"));
  change.to.inputs.resize(1);
}

/// Tiles along one axis.
void TilesAsRepeats(const Change& change) {
  if (change.from.opset() >= 6) return;
  const std::vector<int64_t> axis = change.from.RequireInts(2, "the axis");
  if (axis.size() != 1) change.from.Fail("the axis must be one integer");
  const int64_t rank = change.from.Rank(0);
  std::vector<PrimExpr> repeats(static_cast<size_t>(rank), I64(1));
  repeats[change.from.Axis(axis[0], rank)] = change.from.Dim(1, "the number of tiles");
  change.to.inputs.resize(1);
  change.to.inputs.emplace_back(SymbolicVector({repeats.begin(), repeats.end()}));
}

void ScalesOfImage(const Change& change) {
  for (const char* name : {"height_scale", "width_scale"}) {
    if (!change.from.HasAttr(name)) change.from.Fail("attribute '" + std::string(name) + "' is missing");
  }
  const auto scale = [&](const char* name) { return static_cast<float>(change.from.Float(name, 1)); };
  change.Set("scales", AttributeType::kFloats).floats = {1, 1, scale("height_scale"), scale("width_scale")};
}

}  // namespace

NodeWithInputs AsOfOpset7(const NodeContext& node, const std::vector<Value>& inputs) {
  static const std::unordered_map<std::string_view, void (*)(const Change&)> kChanges = {
      {"Add", Broadcast},
      {"And", Broadcast},
      {"Cast", CastByName},
      {"Concat", ConcatOfChannels},
      {"Div", Broadcast},
      {"Equal", Broadcast},
      {"GlobalLpPool", PowerAsInteger},
      {"Greater", Broadcast},
      {"Less", Broadcast},
      {"LpPool", PowerAsInteger},
      {"Mul", Broadcast},
      {"Or", Broadcast},
      {"PRelu", SlopeByChannel},
      {"Pad", PaddingsAsPads},
      {"Pow", Broadcast},
      {"Reshape", ShapeAsInput},
      {"Selu", SeluAsWritten},
      {"Split", SizesAsAttribute},
      {"Sub", Broadcast},
      {"Tile", TilesAsRepeats},
      {"Upsample", ScalesOfImage},
      {"Xor", Broadcast},
  };
  NodeWithInputs result{node.node(), inputs};
  const auto change = kChanges.find(node.node().op_type);
  if (change != kChanges.end()) change->second({node, result});
  return result;
}

}  // namespace deuteron::onnx
