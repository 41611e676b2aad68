#include "deuteron/backend/dnnl/attention.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "deuteron/backend/dnnl/attention_parts.h"
#include "deuteron/backend/dnnl/kernels.h"

namespace deuteron::backend::dnnl {
namespace {

using Dims = memory::dims;

int64_t Product(Dims::const_iterator begin, Dims::const_iterator end) {
  return std::accumulate(begin, end, int64_t{1}, std::multiplies<>());
}

/// Whether a kernel has no other operands than those that it computes with.
bool IsPlain(const JsonNode& node) {
  if (node.attrs.value("bias", false) || !node.attrs.value("quantization", nlohmann::json::array()).empty())
    return false;
  const auto posts = node.attrs.value("posts", nlohmann::json::array());
  return std::all_of(posts.begin(), posts.end(), [](const auto& post) { return post.at("kind") == "eltwise"; });
}

/// The batch of a plain tensor as one dimension.
Value Flat(PlanBuilder* plan, const Value& value) {
  const Dims dims = value.desc.get_dims();
  Value flat = plan->AsLayout(value, PlainDesc(dims, value.desc.get_data_type()));
  flat.desc = PlainDesc({Product(dims.begin(), dims.end() - 2), dims[dims.size() - 2], dims.back()},
                        value.desc.get_data_type());
  return flat;
}

}  // namespace

std::map<uint32_t, AttentionNodes> FindAttention(const JsonGraph& graph) {
  std::vector<int> uses(graph.nodes.size(), 0);
  for (const JsonNode& node : graph.nodes) {
    for (const JsonEntry input : node.inputs) ++uses[input.node];
  }
  for (const JsonEntry head : graph.heads) ++uses[head.node];
  const auto is = [&](uint32_t index, const char* op) {
    const JsonNode& node = graph.nodes[index];
    return node.kind == JsonNode::kKernel && node.attrs.at("op") == op && IsPlain(node);
  };
  std::map<uint32_t, AttentionNodes> found;
  for (uint32_t i = 0; i < graph.nodes.size(); ++i) {
    if (!is(i, "matmul")) continue;
    const uint32_t softmax = graph.nodes[i].inputs.at(0).node;
    if (!is(softmax, "softmax") || uses[softmax] != 1) continue;
    const uint32_t scores = graph.nodes[softmax].inputs.at(0).node;
    if (is(scores, "matmul") && uses[scores] == 1) found.emplace(i, AttentionNodes{scores, softmax});
  }
  return found;
}

std::optional<Value> AddAttention(PlanBuilder* plan, const Attention& attention) {
  const Dims queries = attention.queries.desc.get_dims(), keys = attention.keys.desc.get_dims(),
             values = attention.values.desc.get_dims();
  const size_t rank = queries.size();
  if (rank < 3 || keys.size() != rank || values.size() != rank) return std::nullopt;
  for (const Value* operand : {&attention.queries, &attention.keys, &attention.values}) {
    const Dims dims = operand->desc.get_dims();
    const bool moves = operand->place == Value::kInput || operand->place == Value::kBuffer;
    if (!moves || IsEmpty(dims) || !std::equal(queries.begin(), queries.end() - 2, dims.begin())) return std::nullopt;
  }
  const int64_t axis = attention.softmax->attrs.at("axis");
  if (axis != static_cast<int64_t>(rank) - 1) return std::nullopt;
  const bool transposed = attention.scores->attrs.value("transposed", false);
  const int64_t batch = Product(queries.begin(), queries.end() - 2);
  const int64_t bytes = queries[rank - 2] * keys[rank - (transposed ? 2 : 1)] * static_cast<int64_t>(sizeof(float));
  const int64_t part = AtOnce(batch, bytes);
  if (part == batch) return std::nullopt;

  JsonNode softmax = *attention.softmax;
  softmax.attrs["axis"] = 2;
  std::vector<Value> operands;
  for (const Value* operand : {&attention.queries, &attention.keys, &attention.values})
    operands.push_back(plan->BeginParts(Flat(plan, *operand), part));
  plan->BeginKernel(attention.scores_kernel);
  const Value scores = AddKernel(plan, *attention.scores, {operands[0], operands[1]});
  plan->BeginKernel(attention.softmax_kernel);
  const Value weights = AddKernel(plan, softmax, {scores});
  plan->BeginKernel(attention.product_kernel);
  const Value product = AddKernel(plan, *attention.product, {weights, operands[2]});
  Value whole = plan->EndParts(product, batch / part);
  Dims result = queries;
  result.back() = product.desc.get_dims().back();
  whole.desc = whole.desc.reshape(result);
  return whole;
}

}  // namespace deuteron::backend::dnnl
