/// \file
/// What a kernel that oneDNN could compute takes there, and as generated code.
#pragma once

#include <string>

#include "deuteron/backend/json/json_serializer.h"

namespace deuteron::backend::dnnl {

/// By what part the processes of choices for few runs may differ that count as one another's equal: of those the one is
/// taken that holds the least memory.
inline constexpr double kEqualPart = 1.1;
/// Seconds that a process takes whatever is chosen: to begin and to end, and for each operator.
inline constexpr double kSecondsOfProcess = 20e-3, kSecondsOfOperator = 0.08e-3;

struct KernelEstimate {
  /// Seconds on all threads of the current target.
  double library = 0;
  double generated = 0;
  /// Seconds before the first run, once for all kernels that are alike: what it takes to make one.
  double library_once = 0;
  double generated_once = 0;
  /// What `generated_once` is where no other kernel is compiled meanwhile: it is compiled on one core.
  double generated_alone = 0;
  /// Seconds before the first run, once for all kernels that have the same weights, to pack them. Either side does.
  double library_weights = 0;
  double generated_weights = 0;
  /// Whether the library keeps its operands and result in layouts of its own: those of images.
  bool keeps_layout = false;
  /// Whether it is one of those for which the library has its general product only.
  bool is_general = false;
  /// A matrix product: as generated code it is fused with what follows, not with what makes its operands.
  bool is_product = false;
};

/// Whether sizes of its operands or result are not known.
bool IsOpen(const JsonKernel& kernel, const Type& result);

/// What a kernel does, and to tensors of which types: the same text for those that are made once.
std::string TextOfKernel(const JsonKernel& kernel, const Type& result);

/// The same of kernels of generated code: their code has numbers that the library's are given.
std::string TextOfGenerated(const JsonKernel& kernel, const Type& result);

/// A number as such a text has it.
std::string TextOfNumber(double number);

/// Seconds of all cores to open the library in so many starts of a process: in the first one core does while others
/// compile, in later ones nobody has anything else to do. What generates code takes as long as that in the first.
double EstimateOpening(int64_t starts = 1);
/// Seconds of all cores in each start until the library has its general product.
double EstimateGeneralProduct();
/// Seconds to compile what makes single elements for a kernel of the library, with numbers of its own.
double EstimateScalars();
/// Seconds that it takes longer to fuse a generated kernel, at each place in the graph, than to plan one of the
/// library.
double EstimatePlace();
/// Seconds to compile a loop as one kernel, beyond what its kernels take.
double EstimateLoop();

/// Both estimates for a kernel that DescribeComposite gave, whose result is of type `result`, from the model of the
/// current target's machine (tir/analysis/cost.h). Extents that are not known are assumed. Of so many runs (0: any
/// number) generated code is what pays in them.
KernelEstimate EstimateKernel(const JsonKernel& kernel, const Type& result, int64_t expected_runs);

/// Seconds to bring a tensor of `type` from one layout to another.
double EstimateReorder(const Type& type);
/// Seconds to store it and load it again.
double EstimateRoundTrip(const Type& type);
/// What attention takes beyond its products and its softmax, where generated code is one kernel of all of them.
struct AttentionEstimate {
  /// Seconds of the library, which stores scores and loads them again, before the softmax and behind it.
  double library = 0;
  /// Seconds before the first run, until the system has given the library memory for them, once for all that are no
  /// larger.
  double library_once = 0;
};
/// Of attention whose scores are of type `scores`, by the library a part of the batch at a time.
AttentionEstimate EstimateAttention(const Type& scores);

}  // namespace deuteron::backend::dnnl
