/// \file
/// Dimensions that an operator's definition demands to be equal, where types do not show whether they are.
///
/// Inference refuses calls whose dimensions provably differ and takes the others as if they were equal. What it takes
/// on trust is collected here, so that a pass can have it checked at run time.
#pragma once

#include <optional>
#include <vector>

#include "deuteron/relax/block_builder.h"

namespace deuteron::relax {

/// A dimension of a tensor argument, or of a field of an argument that is a tuple, and what it has to be, may be at
/// most or at least, or has to be unless it is 1. Or (kElements, of an argument, whatever `axis`) how many elements it
/// has to have.
struct ExtentDemand {
  enum class Relation { kEqual, kAtMost, kAtLeast, kEqualOrOne, kElements };
  size_t arg;
  size_t axis;
  PrimExpr extent;
  std::optional<size_t> field = std::nullopt;
  Relation relation = Relation::kEqual;
};

/// While it lives, holds what inference in this thread takes on trust.
class ExtentDemands {
 public:
  ExtentDemands();
  ~ExtentDemands();
  ExtentDemands(const ExtentDemands&) = delete;
  ExtentDemands& operator=(const ExtentDemands&) = delete;

  const std::vector<ExtentDemand>& list() const { return list_; }

 private:
  friend bool ProvablyDiffers(const BlockBuilder& builder, const PrimExpr& given, const ExtentDemand& demand);
  friend bool ProvablyExceeds(const BlockBuilder& builder, const PrimExpr& given, ExtentDemand demand);
  friend bool ProvablyFallsShort(const BlockBuilder& builder, const PrimExpr& given, ExtentDemand demand);
  friend bool ProvablyNeitherNorOne(const BlockBuilder& builder, const PrimExpr& given, ExtentDemand demand);
  std::vector<ExtentDemand> list_;
  ExtentDemands* outer_;
};

/// Whether the dimension (or number of elements) that `demand` is about, `given`, is not what it has to be. If it may
/// be, it is taken for it.
bool ProvablyDiffers(const BlockBuilder& builder, const PrimExpr& given, const ExtentDemand& demand);
/// Whether it is more than it may be.
bool ProvablyExceeds(const BlockBuilder& builder, const PrimExpr& given, ExtentDemand demand);
/// Whether it is less than it has to be.
bool ProvablyFallsShort(const BlockBuilder& builder, const PrimExpr& given, ExtentDemand demand);
/// Whether it is neither 1 nor what it has to be otherwise.
bool ProvablyNeitherNorOne(const BlockBuilder& builder, const PrimExpr& given, ExtentDemand demand);

}  // namespace deuteron::relax
