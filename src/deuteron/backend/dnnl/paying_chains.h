/// \file
/// Which chains of a block oneDNN is to compute, by estimates (estimate.h, kernel_choice.h).
#pragma once

#include <cstdint>
#include <set>
#include <string>
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

/// What a choice depends on besides the block.
struct Surroundings {
  int64_t expected_runs = 0;
  /// Of few runs: in how many processes they are, of which each opens the library and makes its primitives.
  int64_t expected_starts = 1;
  /// Whether the library is needed in any case.
  bool library_is_open = false;
  /// Whether the block is the step of a loop, which generated code is one kernel of (FuseLoops).
  bool is_step = false;
  /// For few runs: what kernels compute that other blocks have made, and this one makes.
  std::set<std::string>* made = nullptr;
};

/// For each of `chains`, in the order of their last bindings, who computes it, so that all estimates sum up to the
/// least in `expected_runs` runs, what it takes to make kernels included, or to a little more and in less memory; 0: in
/// any number of runs, without that.
std::vector<ChainVerdict> ChoosePaying(const BlockUses& block, const std::vector<DescribedChain>& chains,
                                       const Surroundings& around);

}  // namespace deuteron::backend::dnnl
