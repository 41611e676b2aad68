/// \file
/// The passes that rewrite operators: into simpler ones, into fewer, into constants, into kernels.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "deuteron/ir/transform/pass.h"
#include "deuteron/relax/block_builder.h"
#include "deuteron/relax/expr.h"
#include "deuteron/relax/transform/operators/constant_evaluator.h"

namespace deuteron::relax {

using transform::Pass;

/// Has dimensions compared at run time that operators demand to be equal and types do not show to be.
Pass CheckExtents();

/// Masks that depend on nothing but indices are computed where they are read.
Pass ComputeMasks();
/// Writes batch_norm, dropout and other composite operators out in simpler ones, as inference computes them.
/// `func_name`: only in that function.
Pass DecomposeOpsForInference(std::string func_name = "");
/// Transposed convolutions with constant kernels become convolutions of stride 1 whose channels are interleaved.
Pass ConvTransposeToConv();
/// Convolutions of constant 3 × 3 windows become products of transformed tiles where that saves time.
Pass ConvToWinograd();
/// Elements of a convolution's window that meet nothing but padding are left out.
Pass DropPaddedTaps();
/// Pointwise convolutions with strides become ones without, of the pixels that they read.
Pass DropUnreadPixels();
/// Zeros around an image become the padding of the convolution that reads it.
Pass FoldPadToConv();
/// Folds an inference batch_norm into the constant weights of the convolution before it.
Pass FoldBatchnormToConv2D();
/// Products of integers read constant bytes as they are.
Pass ByteWeights();
/// Evaluates what depends on constants only. `evaluator` computes kernels on tensors. Operators in `skip_ops`
/// ("relax.dequantize") stay.
Pass FoldConstant(ConstantEvaluator evaluator, std::vector<std::string> skip_ops = {});
/// Values are not bounded that a quantisation bounds.
Pass DropBounds();
/// What scales and shifts values before a quantisation becomes one multiplication and one addition.
Pass FoldRequantization();
/// Heads of one query that share keys become rows of one head, which are read once.
Pass HeadsToRows();
/// Products with constant weights of few bits become kernels that read these as they are.
Pass QuantizedWeights();
/// Products with large constants that are transposed become layers, whose weights stay as they lie.
Pass MatmulToDense();

/// Products of one row and a transposed matrix, which the run gives, become sums along that matrix's rows.
Pass DotProducts();
/// Products of dequantised bytes with dequantised constant weights become products of integers.
Pass IntegerProducts();
/// Moves what rearranges or selects elements before their dequantisation, and drops a quantisation that undoes it.
Pass SinkDequantize();

/// Products of several inputs of few rows with the same weight become one product.
Pass CombineMatmulsOfOneWeight();

/// Replaces operators by call_tir of kernels: by `custom` (operator name → function), else as the operator's
/// row in the table says. `skip_ops` are left as they are. `enable_warning`: says on standard error which have no rule.
using LegalizeMap = std::map<std::string, std::function<Expr(BlockBuilder&, const Call&)>>;
Pass LegalizeOps(LegalizeMap custom = {}, std::vector<std::string> skip_ops = {}, bool enable_warning = false);

/// What is computed of one byte, and is one byte in the end, is looked up in a table.
Pass TabulateBytes();

}  // namespace deuteron::relax
