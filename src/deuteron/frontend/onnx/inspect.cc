#include <algorithm>
#include <map>

#include "deuteron/frontend/onnx/import.h"
#include "deuteron/frontend/onnx/model.h"
#include "deuteron/frontend/onnx/tensor.h"
#include "deuteron/support/host_tensor.h"

namespace deuteron::onnx {
namespace {

ModelSummary::Value Describe(const ValueInfoProto& info) {
  ModelSummary::Value value{std::string(info.name), "", {}};
  for (const ValueInfoProto::Holder holder : info.holders) {
    value.dtype += holder == ValueInfoProto::Holder::kSequence ? "sequence of " : "optional ";
  }
  value.dtype += info.is_tensor ? ElementTypeName(info.elem_type) : std::string(info.kind);
  for (const DimProto& dim : info.dims) {
    value.dims.push_back(dim.value ? std::to_string(*dim.value) : dim.param.empty() ? "?" : std::string(dim.param));
  }
  return value;
}

/// Bits of an element; 0 if unknown.
int64_t ElementBits(int32_t type) {
  static constexpr int kBits[] = {0,  32,  8,  8, 16, 16, 32, 64, 0, 8, 16, 64, 32, 64,
                                  64, 128, 16, 8, 8,  8,  8,  4,  4, 4, 8,  2,  2};
  return type >= 0 && type < static_cast<int32_t>(std::size(kBits)) ? kBits[type] : 0;
}

}  // namespace

ModelSummary Inspect(const std::string& path) {
  const auto model = ReadModel(MappedFile::Open(path, "the model"));
  ModelSummary summary;
  summary.ir_version = model->ir_version;
  summary.producer = std::string(model->producer_name);
  if (!model->producer_version.empty()) summary.producer += " " + std::string(model->producer_version);
  for (const OpsetImport& opset : model->opsets) {
    const std::string domain = IsOnnxDomain(opset.domain) ? "ai.onnx" : std::string(opset.domain);
    summary.opsets.emplace_back(domain, opset.version);
  }
  const GraphProto& graph = model->graph;
  for (const TensorProto& tensor : graph.initializers) {
    const int64_t count = CheckedByteSize(tensor.dims, DataType::Int(8));
    if (count < 0) continue;
    summary.parameters += count;
    summary.parameter_bytes +=
        count / 8 * ElementBits(tensor.data_type) + count % 8 * ElementBits(tensor.data_type) / 8;
  }
  summary.initializers = static_cast<int64_t>(graph.initializers.size());
  for (const ValueInfoProto& input : graph.inputs) {
    const bool initialised = std::any_of(graph.initializers.begin(), graph.initializers.end(),
                                         [&](const TensorProto& tensor) { return tensor.name == input.name; });
    if (!initialised) summary.inputs.push_back(Describe(input));
  }
  for (const ValueInfoProto& output : graph.outputs) summary.outputs.push_back(Describe(output));

  std::map<std::pair<std::string, std::string>, int64_t> counts;
  std::vector<const std::vector<NodeProto>*> work = {&graph.nodes};
  while (!work.empty()) {
    const auto* nodes = work.back();
    work.pop_back();
    for (const NodeProto& node : *nodes) {
      const std::string domain = IsOnnxDomain(node.domain) ? "ai.onnx" : std::string(node.domain);
      ++counts[{domain, std::string(node.op_type)}];
      ++summary.nodes;
      for (const AttributeProto& attribute : node.attributes) {
        if (attribute.g != nullptr) work.push_back(&attribute.g->nodes);
      }
    }
  }
  for (const auto& [op, count] : counts) {
    summary.ops.push_back({op.first, op.second, count});
  }
  std::stable_sort(summary.ops.begin(), summary.ops.end(),
                   [](const auto& a, const auto& b) { return a.count > b.count; });
  return summary;
}

}  // namespace deuteron::onnx
