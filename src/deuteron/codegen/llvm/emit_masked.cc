/// \file
/// Loads and stores of some of a vector's lanes.
///
/// What no instruction masks is moved in pieces, of powers of two of lanes: bytes and integers of 16 bits on x86 before
/// AVX-512, which LLVM moves one by one behind a branch each, and stores there, of which some take as long as sixteen
/// others.
#include <bit>
#include <optional>
#include <vector>

#include "deuteron/codegen/llvm/emitter.h"
#include "deuteron/codegen/llvm/vector_ops.h"

namespace deuteron::codegen {
namespace {

/// Lanes next to each other.
struct LaneRange {
  unsigned begin;
  unsigned end;
};

/// Those that a constant mask keeps on, in runs; nothing if it is not constant.
std::optional<std::vector<LaneRange>> RunsOn(const llvm::Value* mask) {
  const auto* constant = llvm::dyn_cast_or_null<llvm::Constant>(mask);
  if (constant == nullptr) return std::nullopt;
  const unsigned lanes = llvm::cast<llvm::FixedVectorType>(constant->getType())->getNumElements();
  std::vector<LaneRange> runs;
  for (unsigned lane = 0; lane < lanes; ++lane) {
    const llvm::Constant* element = constant->getAggregateElement(lane);
    if (element == nullptr || (!element->isOneValue() && !element->isNullValue())) return std::nullopt;
    if (!element->isOneValue()) continue;
    if (runs.empty() || runs.back().end != lane) runs.push_back({lane, lane});
    ++runs.back().end;
  }
  return runs;
}

/// The lanes of runs in pieces, each a power of two of them from a multiple of it.
std::vector<LaneRange> PiecesOf(const std::vector<LaneRange>& runs) {
  std::vector<LaneRange> pieces;
  for (LaneRange run : runs) {
    while (run.begin < run.end) {
      const unsigned most = std::bit_floor(run.end - run.begin);
      const unsigned aligned = run.begin == 0 ? most : run.begin & -run.begin;
      pieces.push_back({run.begin, run.begin + std::min(most, aligned)});
      run.begin = pieces.back().end;
    }
  }
  return pieces;
}

/// The lanes of `range` alone.
llvm::SmallVector<int, 16> Picked(const LaneRange& range) {
  return llvm::createSequentialMask(range.begin, range.end - range.begin, 0);
}

}  // namespace

int64_t LanesOn(const llvm::Value* mask) {
  const auto runs = RunsOn(mask);
  return runs && runs->size() == 1 && runs->front().begin == 0 ? runs->front().end : 0;
}

llvm::Value* WithoutGaps(llvm::Value* mask) {
  const auto runs = RunsOn(mask);
  if (!runs || runs->size() < 2) return mask;
  std::vector<llvm::Constant*> lanes;
  for (unsigned lane = 0; lane < llvm::cast<llvm::FixedVectorType>(mask->getType())->getNumElements(); ++lane) {
    const bool is_on = runs->front().begin <= lane && lane < runs->back().end;
    lanes.push_back(llvm::ConstantInt::getBool(mask->getContext(), is_on));
  }
  return llvm::ConstantVector::get(lanes);
}

llvm::Value* KernelEmitter::EmitMaskedLoad(llvm::Type* type, llvm::Value* address, const tir::Buffer& buffer,
                                           llvm::Value* mask) {
  const llvm::Align align(static_cast<uint64_t>(buffer->dtype.bytes()));
  auto* vector = llvm::cast<llvm::FixedVectorType>(type);
  llvm::Value* zeros = llvm::Constant::getNullValue(type);
  const bool is_masked = target_.HasFeature("avx512f") || (target_.HasFeature("avx") && buffer->dtype.bytes() >= 4);
  const auto on = is_masked ? std::nullopt : RunsOn(mask);
  if (!on) {
    const auto load = [&](llvm::Type* of, llvm::Value* at, llvm::Value* by) {
      return Annotate(builder_.CreateMaskedLoad(of, at, align, by, llvm::Constant::getNullValue(of)), buffer);
    };
    // LLVM 19 itself cuts what is longer than a register so that a half whose lanes are all off may be loaded.
    const unsigned lanes = vector->getNumElements();
    const unsigned of_register =
        (target_.HasFeature("avx512f") ? 512 : 256) / static_cast<unsigned>(8 * buffer->dtype.bytes());
    if (!is_masked || lanes <= of_register || lanes % of_register != 0) return load(type, address, mask);
    unsigned begin = 0;
    return InPieces(&builder_, {mask}, of_register, [&](const std::vector<llvm::Value*>& piece) {
      llvm::Value* at = builder_.CreateConstGEP1_64(vector->getElementType(), address, begin);
      begin += of_register;
      return load(llvm::FixedVectorType::get(vector->getElementType(), of_register), at, piece[0]);
    });
  }
  llvm::Value* result = zeros;
  for (const LaneRange& piece : PiecesOf(*on)) {
    llvm::Value* begin = builder_.CreateConstGEP1_64(vector->getElementType(), address, piece.begin);
    auto* lanes = llvm::FixedVectorType::get(vector->getElementType(), piece.end - piece.begin);
    llvm::Value* part = Annotate(builder_.CreateAlignedLoad(lanes, begin, align), buffer);
    result = WithLanesAt(&builder_, result, part, piece.begin);
  }
  return result;
}

void KernelEmitter::EmitMaskedStore(llvm::Value* value, llvm::Value* address, const tir::Buffer& buffer) {
  const llvm::Align align(static_cast<uint64_t>(buffer->dtype.bytes()));
  auto* type = llvm::cast<llvm::FixedVectorType>(value->getType());
  const unsigned lanes = type->getNumElements();
  const bool in_pieces = !target_.HasFeature("avx512f");
  if (const auto on = in_pieces ? RunsOn(mask_) : std::nullopt) {
    for (const LaneRange& piece : PiecesOf(*on)) {
      llvm::Value* begin = builder_.CreateConstGEP1_64(type->getElementType(), address, piece.begin);
      Annotate(builder_.CreateAlignedStore(builder_.CreateShuffleVector(value, Picked(piece)), begin, align), buffer);
    }
    return;
  }
  if (!in_pieces || first_lanes_ == nullptr || lanes < 2 || !std::has_single_bit(lanes)) {
    Annotate(builder_.CreateMaskedStore(value, address, align, mask_), buffer);
    return;
  }
  // Pieces of half as many lanes each.
  const auto block = [&](const char* name) { return llvm::BasicBlock::Create(llvm_, name, frame_->function); };
  llvm::BasicBlock *whole = block("whole"), *piecewise = block("piecewise"), *join = block("stored");
  llvm::Value* all = llvm::ConstantInt::get(first_lanes_->getType(), lanes);
  builder_.CreateCondBr(builder_.CreateICmpSGE(first_lanes_, all), whole, piecewise);
  builder_.SetInsertPoint(whole);
  Annotate(builder_.CreateAlignedStore(value, address, align), buffer);
  builder_.CreateBr(join);
  builder_.SetInsertPoint(piecewise);
  for (unsigned piece = lanes / 2; piece > 0; piece /= 2) {
    // What is left are the first of twice as many lanes as this piece has.
    llvm::Value* first = builder_.CreateShuffleVector(value, Picked({0, piece}));
    llvm::Value* rest = builder_.CreateShuffleVector(value, Picked({piece, 2 * piece}));
    llvm::Value* behind = builder_.CreateConstGEP1_64(type->getElementType(), address, piece);
    llvm::BasicBlock *before = builder_.GetInsertBlock(), *store = block("piece"), *next = block("next");
    llvm::Value* bit = builder_.CreateAnd(first_lanes_, llvm::ConstantInt::get(first_lanes_->getType(), piece));
    builder_.CreateCondBr(builder_.CreateIsNotNull(bit), store, next);
    builder_.SetInsertPoint(store);
    Annotate(builder_.CreateAlignedStore(first, address, align), buffer);
    builder_.CreateBr(next);
    builder_.SetInsertPoint(next);
    const auto either = [&](llvm::Value* stored, llvm::Value* not_stored) {
      llvm::PHINode* phi = builder_.CreatePHI(stored->getType(), 2);
      phi->addIncoming(stored, store);
      phi->addIncoming(not_stored, before);
      return phi;
    };
    value = either(rest, first);
    address = either(behind, address);
  }
  builder_.CreateBr(join);
  builder_.SetInsertPoint(join);
}

}  // namespace deuteron::codegen
