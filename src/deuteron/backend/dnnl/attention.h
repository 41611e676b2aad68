/// \file
/// Attention whose scores are many, a part of its batch at a time.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "deuteron/backend/dnnl/plan.h"

namespace deuteron::backend::dnnl {

/// The nodes of a graph that are attention: a product, the softmax of its rows, and the product of that with values.
/// Nobody else reads what lies between them.
struct AttentionNodes {
  uint32_t scores;
  uint32_t softmax;
};
/// By the second product.
std::map<uint32_t, AttentionNodes> FindAttention(const JsonGraph& graph);

/// One of those, with the operands of its products, and the number of each kernel (PlanBuilder::BeginKernel).
struct Attention {
  const JsonNode *scores, *softmax, *product;
  uint32_t scores_kernel, softmax_kernel, product_kernel;
  Value queries, keys, values;
};

/// Adds its primitives, once for each part of the batch whose scores stay in a cache: all parts have one memory.
/// Nothing, and adds none, where the scores of all are few, or parts are not alike.
std::optional<Value> AddAttention(PlanBuilder* plan, const Attention& attention);

}  // namespace deuteron::backend::dnnl
