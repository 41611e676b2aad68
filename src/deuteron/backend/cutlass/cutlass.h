/// \file
/// The compile side of the back end `cutlass`: what it takes, and how that is described before it is written as CUDA.
#pragma once

#include "deuteron/backend/matched_composite.h"
#include "deuteron/ir/module.h"
#include "deuteron/ir/transform/pass.h"
#include "deuteron/tir/function.h"

namespace deuteron::backend::cutlass {

/// Puts what the generator can write into functions with the attribute Composite, constants inside; attention that is
/// written out becomes nn.attention before. Narrower than PartitionForCutlass, which takes what TVM's does: see
/// DescribeKernel.
transform::Pass Partition();
/// Writes a function with the attribute Codegen = "cutlass" as CUDA, compiles it by nvcc, and returns the object for
/// the plugin `shared_object`, which every runtime has. Options: "arch" (ArchitectureOf), "compiler", "cache_dir"
/// (source/compile_source.h), "cutlass_dir" (else $CUTLASS_DIR), "flags".
relax::ExternalFunction Generate(const relax::CodegenRequest& request);
/// Compiles the sources of several functions for Generate to find, each distinct one once, up to four at once.
void Prepare(const std::vector<relax::CodegenRequest>& requests);
/// What nvcc compiles for, by its name ("sm_90"): the option "arch", else $DEUTERON_CUDA_ARCH, else "sm_80".
std::string ArchitectureOf(const relax::CodegenRequest& request);
/// Why it cannot be used: there is no nvcc, or CUTLASS's headers are missing. Empty if it can.
std::string Missing();
/// The folder that holds cutlass/cutlass.h: `wanted`, else $CUTLASS_DIR (or the include/ in it), else where the build
/// found it or the system keeps headers; empty if there is none.
std::string FindCutlass(const std::string& wanted = "");

/// The CUDA source alone; the names of the constants it takes, in order, in `constants`.
std::string WriteSource(const relax::CodegenRequest& request, std::vector<std::string>* constants = nullptr);

/// A match as one kernel of the families in device/. The attribute "family" names it:
///
///     product      lhs, rhs, bias, residual            "transposed" and the epilogue
///     decode       lhs, packed, scales, bias, residual "decode": the element (i, j) of the weights in C++
///     convolution  x, w, bias, residual                "strides", "padding", "dilation" and the epilogue
///     attention    q, k, v, bias                       "scale", "causal", "bottom_right"
///     stacked      qkv, bias                           the same, "heads", "channels", "value_channels"
///     sequences    q, k, v, starts of queries, of keys the same
///     layer_norm   x, scale, shift                     "epsilon"
///     rms_norm     x, scale                            "epsilon"
///
/// An epilogue is "bias" and "residual" ("none", "vector", "full"), "activation", "combine" and "final". Refused,
/// though the patterns take it: what has no kernel on tensor cores (bytes that are no int8, integers whose right
/// operand is not transposed or whose rows are not of whole 16 bytes, groups), a bias that broadcasts otherwise than
/// along rows, heads of more than 256 channels, windows, weights unpacked by more than one element-wise block or packed
/// for another library, an RMS norm whose loops are not recognised.
JsonKernel DescribeKernel(const MatchedComposite& composite, const IRModule& module);

/// What `function` stores to (i, j) of its result, as a C++ expression of `i`, `j` and the pointers `in0` and `in1`. A
/// Refusal unless it is one element-wise block.
std::string DecodeExpression(const tir::PrimFunc& function);
/// The number that an RMS norm of its first parameter, scaled by its second, adds under the root. A Refusal if
/// `function` is something else.
double RMSNormEpsilon(const tir::PrimFunc& function);

}  // namespace deuteron::backend::cutlass
