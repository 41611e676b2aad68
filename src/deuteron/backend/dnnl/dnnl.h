/// \file
/// The back end `dnnl`: convolutions and products (of quantised tensors too), pooling, softmax and layer norm on CPUs
/// by oneDNN.
#pragma once

#include "deuteron/ir/transform/pass.h"
#include "deuteron/relax/transform/library/library_codegen.h"

namespace deuteron::backend::dnnl {

/// Puts what oneDNN computes into Composite functions, constants inside of them.
transform::Pass Partition();

/// The same for convolutions and products of quantised tensors: between dequantize and quantize, or of integers. To be
/// run before constants that are dequantised become floats.
transform::Pass PartitionQuantized();

/// One of them, taking only what it is estimated to compute in less time than generated code, what lies between
/// kernels counted.
transform::Pass PartitionPaying(bool quantized);

/// Whether few runs of a module, as it was imported, are likely to have kernels of oneDNN: its convolutions take longer
/// to compile than the library to open. Estimated for the current target.
bool IsLikely(const IRModule& module);

/// Translates a function with the attribute Codegen = "dnnl" for the plugin of that name.
relax::ExternalFunction Generate(const relax::CodegenRequest& request);

}  // namespace deuteron::backend::dnnl
