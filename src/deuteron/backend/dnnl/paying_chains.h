/// \file
/// Which chains of a block oneDNN is to compute, by estimates (estimate.h, kernel_choice.h).
#pragma once

#include <cstdint>
#include <vector>

#include "deuteron/backend/dnnl/block_uses.h"
#include "deuteron/backend/dnnl/estimate.h"
#include "deuteron/backend/json/json_serializer.h"

namespace deuteron::backend::dnnl {

/// A chain, and what DescribeComposite says of it.
struct DescribedChain {
  Chain chain;
  JsonKernel kernel;
};

struct ChainVerdict {
  bool is_library = false;
  KernelEstimate estimate;
};

/// For each of `chains`, in the order of their last bindings, who computes it, so that all estimates sum up to the
/// least in `expected_runs` runs, what it takes to make kernels included; 0: in any number of runs, without that.
std::vector<ChainVerdict> ChoosePaying(const BlockUses& block, const std::vector<DescribedChain>& chains,
                                       int64_t expected_runs);

}  // namespace deuteron::backend::dnnl
