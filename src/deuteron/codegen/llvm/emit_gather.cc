/// \file
/// Loads whose lanes lie where only the run knows.
///
/// An instruction that gathers takes as long as an access of the cache for each of its lanes. The lanes of images that
/// are resized, of sequences that are repeated or sorted lie near each other, mostly: two loads and a permutation then,
/// if what the vector of indices says allows for it.
#include <algorithm>

#include "deuteron/codegen/llvm/emitter.h"
#include "deuteron/ir/prim_ops.h"
#include "deuteron/tir/functor.h"

namespace deuteron::codegen {
namespace {

/// An index as the sum of what all lanes share, null if that is 0, and the rest.
struct SharedIndex {
  PrimExpr shared;
  PrimExpr rest;
};
SharedIndex Split(const PrimExpr& index) {
  if (const auto* splat = index.as<tir::BroadcastNode>()) return {splat->value, PrimExpr()};
  if (index->kind != ExprKind::kAdd) return {PrimExpr(), index};
  const auto plus = [](const PrimExpr& a, const PrimExpr& b) { return !a.defined() ? b : !b.defined() ? a : a + b; };
  const auto* sum = static_cast<const tir::BinaryNode*>(index.get());
  const SharedIndex a = Split(sum->a), b = Split(sum->b);
  return {plus(a.shared, b.shared), plus(a.rest, b.rest)};
}

/// What picks lanes of two vectors by a third one, for `lanes` elements of `bytes`.
llvm::Intrinsic::ID Permutation(int64_t bytes, int64_t lanes) {
  if (bytes == 4 && lanes == 8) return llvm::Intrinsic::x86_avx512_vpermi2var_d_256;
  if (bytes == 4 && lanes == 16) return llvm::Intrinsic::x86_avx512_vpermi2var_d_512;
  if (bytes == 8 && lanes == 8) return llvm::Intrinsic::x86_avx512_vpermi2var_q_512;
  return llvm::Intrinsic::not_intrinsic;
}

}  // namespace

bool KernelEmitter::LooksForNearLanes(const tir::Buffer& buffer, const PrimExpr& index) const {
  const int64_t lanes = index.dtype().lanes();
  if (lanes == 1 || !target_.HasFeature("avx512vl") || buffer->shape.empty()) return false;
  if (Permutation(buffer->dtype.bytes(), lanes) == llvm::Intrinsic::not_intrinsic) return false;
  const PrimExpr rest = Split(index).rest;
  return rest.defined() && rest.as<tir::RampNode>() == nullptr;
}

llvm::Value* KernelEmitter::EmitGather(const tir::Buffer& buffer, const PrimExpr& index) {
  const int64_t lanes = index.dtype().lanes();
  llvm::Type* type = MemoryType(buffer->dtype.with_lanes(static_cast<int>(lanes)));
  const llvm::Align align(static_cast<uint64_t>(buffer->dtype.bytes()));
  const auto gather = [&](llvm::Value* from) {
    llvm::Value* addresses = ElementAddress(buffer, from);
    return Annotate(
        builder_.CreateMaskedGather(type, addresses, align, FullMask(lanes), llvm::Constant::getNullValue(type)),
        buffer);
  };
  const Array<tir::Var> in_extent = buffer->shape.empty() ? Array<tir::Var>() : FreeVars(buffer->shape[0]);
  const bool is_known = std::all_of(in_extent.begin(), in_extent.end(),
                                    [&](const tir::Var& var) { return values_.count(var.get()) > 0; });
  if (!LooksForNearLanes(buffer, index) || !is_known) return gather(EmitIndex(index));
  const SharedIndex parts = Split(index);
  // Lanes of 32 bits are compared as such: two that are both in a buffer of fewer elements are not 2^32 apart.
  const auto* widened = parts.rest.as<tir::CastNode>();
  const bool is_narrow = widened != nullptr && widened->value->dtype.element() == DataType::Int(32);
  llvm::Value* lane = is_narrow ? EmitExpr(widened->value) : EmitIndex(parts.rest);
  llvm::Value* begin = builder_.CreateExtractElement(lane, uint64_t{0});
  llvm::Value* offsets = builder_.CreateSub(lane, Splat(begin, lanes));
  // Of the two vectors that begin with the first lane's element.
  const auto span = static_cast<uint64_t>(2 * lanes);
  llvm::Value* are_near = builder_.CreateICmpULT(offsets, llvm::ConstantInt::get(offsets->getType(), span));
  if (mask_ != nullptr) are_near = builder_.CreateOr(are_near, builder_.CreateNot(mask_));
  llvm::Value* shared = parts.shared.defined() ? EmitIndex(parts.shared) : builder_.getInt64(0);
  llvm::Value* first = builder_.CreateAdd(builder_.CreateSExt(begin, builder_.getInt64Ty()), shared);
  llvm::Value* extent = EmitIndex(buffer->shape[0]);
  llvm::Value* last = builder_.CreateSub(extent, builder_.getInt64(span));
  llvm::Value* is_inside =
      builder_.CreateAnd(builder_.CreateICmpSGE(first, builder_.getInt64(0)), builder_.CreateICmpSLE(first, last));
  if (is_narrow) {
    llvm::Value* most = builder_.getInt64(uint64_t{1} << 31);
    is_inside = builder_.CreateAnd(is_inside, builder_.CreateICmpULE(extent, most));
  }
  llvm::Value* may_permute = builder_.CreateAnd(builder_.CreateAndReduce(are_near), is_inside);
  const auto block = [&](const char* name) { return llvm::BasicBlock::Create(llvm_, name, frame_->function); };
  llvm::BasicBlock *near = block("near"), *far = block("far"), *join = block("gathered");
  builder_.CreateCondBr(may_permute, near, far);
  builder_.SetInsertPoint(near);
  llvm::Type* integer = builder_.getIntNTy(static_cast<unsigned>(8 * buffer->dtype.bytes()));
  llvm::Type* integers = llvm::FixedVectorType::get(integer, static_cast<unsigned>(lanes));
  const auto load = [&](int64_t vector) {
    llvm::Value* address =
        ElementAddress(buffer, builder_.CreateAdd(first, builder_.getInt64(static_cast<uint64_t>(vector * lanes))));
    return Annotate(builder_.CreateAlignedLoad(integers, address, align), buffer);
  };
  llvm::Value* low = load(0);
  llvm::Value* high = load(1);
  llvm::Value* permuted = builder_.CreateIntrinsic(Permutation(buffer->dtype.bytes(), lanes), {},
                                                   {low, builder_.CreateSExtOrTrunc(offsets, integers), high});
  permuted = builder_.CreateBitCast(permuted, type);
  builder_.CreateBr(join);
  builder_.SetInsertPoint(far);
  llvm::Value* wide = builder_.CreateSExt(lane, WithLanesOf(builder_.getInt64Ty(), lane));
  llvm::Value* gathered = gather(builder_.CreateAdd(wide, Splat(shared, lanes)));
  builder_.CreateBr(join);
  builder_.SetInsertPoint(join);
  llvm::PHINode* value = builder_.CreatePHI(type, 2);
  value->addIncoming(permuted, near);
  value->addIncoming(gathered, far);
  return value;
}

}  // namespace deuteron::codegen
