/// \file
/// Names for lengths whose expressions are long.
#pragma once

#include <unordered_map>

#include "deuteron/frontend/onnx/node_context.h"
#include "deuteron/ir/expr_functor.h"

namespace deuteron::onnx {

/// Lengths that a model works out of lengths grow from node to node (how many boxes there are in images that were
/// scaled, cropped and filled up), and every pass would look through them again and again. Parts of them that are long
/// and not negative, as dimensions are, are bound to symbols, the same ones to the same symbol. Sums and products are
/// looked into, so that a multiple stays one.
class LongDims {
 public:
  /// Bindings are emitted by `builder`, and hold from there on.
  explicit LongDims(relax::BlockBuilder* builder) : builder_(builder) {}

  /// A result of a node, of which a tensor's dimensions and known elements are short.
  void Shorten(Value* result, const Span& span);

 private:
  class Namer;

  struct Hash {
    size_t operator()(const PrimExpr& expr) const { return ExprHash(expr); }
  };
  struct Equal {
    bool operator()(const PrimExpr& a, const PrimExpr& b) const { return ExprEqual(a, b); }
  };
  relax::BlockBuilder* builder_;
  std::unordered_map<PrimExpr, tir::Var, Hash, Equal> names_;
};

}  // namespace deuteron::onnx
