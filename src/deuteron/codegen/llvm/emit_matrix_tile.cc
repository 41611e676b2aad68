/// \file
/// Products of tiles by a matrix unit (AMX): a marked nest of loops (tir/analysis/matrix_unit.h) as code that keeps C
/// in registers of tiles while it runs through A and B.
///
/// Registers are chosen here, not by LLVM: C has one for each tile, those of the operand of which there are fewer tiles
/// are loaded once a step, those of the other take turns. A step is as many elements as a row of A has, or as divide
/// the sum; where several products have tiles in common (MatrixTile::products) it is all of these, one after the other.
/// Long sums store one of their registers now and then, where it goes in the end (EarlyStores).
/// What shapes the registers have is told to the CPU once a function, where that is the body of a parallel loop: it
/// takes as long as some twenty products.
#include <algorithm>
#include <array>
#include <functional>

#include "deuteron/codegen/llvm/emitter.h"
#include "deuteron/tir/analysis/factors.h"
#include "deuteron/tir/analysis/matrix_unit.h"
#include "deuteron/tir/functor.h"

namespace deuteron::codegen {
namespace {

/// Which register holds what.
struct Registers {
  int64_t row_tiles, column_tiles, count;
  bool rows_stay() const { return row_tiles <= column_tiles; }
  int64_t C(int64_t row, int64_t column) const { return row * column_tiles + column; }
  int64_t First() const { return row_tiles * column_tiles; }
  int64_t Staying() const { return std::min(row_tiles, column_tiles); }
  int64_t Turning() const { return count - First() - Staying(); }
  int64_t A(int64_t row) const { return rows_stay() ? First() + row : First() + Staying() + row % Turning(); }
  int64_t B(int64_t column) const { return rows_stay() ? First() + Staying() + column % Turning() : First() + column; }
};

/// The 64 bytes that tell the CPU the shapes of its registers.
class Shapes {
 public:
  Shapes() { bytes_[0] = 1; }  // the only palette there is
  void Set(int64_t tile, int64_t rows, int64_t columns) {
    bytes_[static_cast<size_t>(16 + 2 * tile)] = static_cast<uint8_t>(4 * columns);
    bytes_[static_cast<size_t>(48 + tile)] = static_cast<uint8_t>(rows);
  }
  const std::array<uint8_t, 64>& bytes() const { return bytes_; }

 private:
  std::array<uint8_t, 64> bytes_{};
};

/// Those of the registers of a tile, for as many rows as it has at most.
Shapes ShapesOf(const tir::MatrixTile& tile, const tir::MatrixUnit& unit, const Registers& registers, int64_t rows,
                int64_t columns) {
  const int64_t depth = tir::DepthOfStep(unit, *AsConstInt(tile.depth.back()->extent));
  Shapes shapes;
  const auto rows_of = [&](int64_t i) { return std::min(unit.rows, rows - i * unit.rows); };
  const auto columns_of = [&](int64_t j) { return std::min(unit.columns, columns - j * unit.columns); };
  for (int64_t i = 0; i < registers.row_tiles; ++i) {
    shapes.Set(registers.A(i), rows_of(i), depth);
    for (int64_t j = 0; j < registers.column_tiles; ++j) shapes.Set(registers.C(i, j), rows_of(i), columns_of(j));
  }
  for (int64_t j = 0; j < registers.column_tiles; ++j) shapes.Set(registers.B(j), depth, columns_of(j));
  return shapes;
}

Registers RegistersOf(const tir::MatrixUnit& unit, int64_t rows, int64_t columns) {
  const auto parts = [](int64_t extent, int64_t most) { return (extent + most - 1) / most; };
  return {parts(rows, unit.rows), parts(columns, unit.columns), unit.tiles};
}

/// When a sum stores a register before its end: at the end of each so many iterations, a power of two, of a loop of it.
/// Where no tile has been stored for some 2100 cycles, the next store waits about a thousand, as measured on a CPU with
/// AMX, whatever is computed, loaded or stored of vectors meanwhile; one more store takes a few.
struct EarlyStores {
  size_t loop = 0;
  int64_t period = 1;
};
/// Nothing where the sum is short. `steps`: of each of its loops, outermost first; a step is so many products of tiles,
/// each of 16 cycles.
std::optional<EarlyStores> EarlyStoresOf(const std::vector<int64_t>& steps, int64_t products) {
  constexpr int64_t kMostProducts = 64;
  int64_t within = products;
  for (size_t i = steps.size(); i-- > 0; within *= steps[i]) {
    if (within * steps[i] <= kMostProducts) continue;
    int64_t period = 1;
    while (2 * period * within <= kMostProducts) period *= 2;
    return EarlyStores{i, period};
  }
  return std::nullopt;
}

/// The shapes of all tiles in a statement; nothing if there are none, or of different ones.
class ShapesFinder : public tir::StmtExprVisitor {
 public:
  ShapesFinder(const Target& target, const tir::Stmt& stmt) : target_(target) { VisitStmt(stmt); }
  std::optional<std::array<uint8_t, 64>> shapes() const { return is_one_ ? shapes_ : std::nullopt; }

 protected:
  void VisitFor_(const tir::ForNode* op) override {
    if (!is_one_) return;
    const auto tile = tir::FindMatrixTile(op);
    if (!tile) return tir::StmtExprVisitor::VisitFor_(op);
    const auto unit = tir::FindMatrixUnit(target_, tile->dot->op);
    const auto rows = AsConstInt(tile->num_rows);
    if (!unit || !rows) {
      is_one_ = false;
      return;
    }
    const int64_t columns = *AsConstInt(tile->column->extent);
    const auto found = ShapesOf(*tile, *unit, RegistersOf(*unit, *rows, columns), *rows, columns).bytes();
    is_one_ = !shapes_ || shapes_ == found;
    shapes_ = found;
  }

 private:
  const Target& target_;
  std::optional<std::array<uint8_t, 64>> shapes_;
  bool is_one_ = true;
};

}  // namespace

void KernelEmitter::WithTileShapes(const tir::ForNode* op, const std::function<void()>& emit) {
  const auto around = frame_->tile_shapes;
  if (!frame_->parallel_body || !around || mask_ != nullptr || op->annotations.count(tir::kMatrixTile) != 0)
    return emit();
  const auto shapes = ShapesFinder(target_, GetRef<tir::For>(op)).shapes();
  if (!shapes || shapes == around) return emit();
  SetTileShapes(*shapes, &builder_);
  frame_->tile_shapes = shapes;
  emit();
  frame_->tile_shapes = around;
  SetTileShapes(*around, &builder_);
}

void KernelEmitter::SetTileShapes(const std::array<uint8_t, 64>& shapes, llvm::IRBuilderBase* builder) {
  auto* data = llvm::ConstantDataArray::get(llvm_, llvm::ArrayRef<uint8_t>(shapes));
  auto* global =
      new llvm::GlobalVariable(*module_, data->getType(), true, llvm::GlobalValue::PrivateLinkage, data, "tile.shapes");
  global->setAlignment(llvm::Align(64));
  global->setUnnamedAddr(llvm::GlobalValue::UnnamedAddr::Global);
  builder->CreateIntrinsic(llvm::Intrinsic::x86_ldtilecfg, {}, {global});
}

llvm::Value* KernelEmitter::SetTileShapesOfRows(const std::array<uint8_t, 64>& shapes, const PrimExpr& num_rows,
                                                int64_t row_tiles, int64_t most,
                                                const std::function<std::vector<int64_t>(int64_t)>& registers_of) {
  llvm::IRBuilder<> entry(frame_->alloca_point);
  auto* type = llvm::ArrayType::get(builder_.getInt8Ty(), shapes.size());
  llvm::AllocaInst* memory = entry.CreateAlloca(type, nullptr, "tile.shapes");
  memory->setAlignment(llvm::Align(64));
  builder_.CreateStore(llvm::ConstantDataArray::get(llvm_, llvm::ArrayRef<uint8_t>(shapes)), memory);
  llvm::Value* rows = EmitIndex(num_rows);
  const auto number = [&](int64_t value) { return builder_.getInt64(static_cast<uint64_t>(value)); };
  const auto either = [&](llvm::Intrinsic::ID id, llvm::Value* a, int64_t b) {
    return builder_.CreateBinaryIntrinsic(id, a, number(b));
  };
  for (int64_t i = 0; i < row_tiles; ++i) {
    // A register without rows could not be used.
    llvm::Value* here = builder_.CreateSub(rows, number(i * most));
    here = either(llvm::Intrinsic::smax, either(llvm::Intrinsic::smin, here, most), 1);
    for (const int64_t reg : registers_of(i)) {
      llvm::Value* at =
          builder_.CreateConstInBoundsGEP1_64(builder_.getInt8Ty(), memory, static_cast<uint64_t>(48 + reg));
      builder_.CreateStore(builder_.CreateTrunc(here, builder_.getInt8Ty()), at);
    }
  }
  builder_.CreateIntrinsic(llvm::Intrinsic::x86_ldtilecfg, {}, {memory});
  return rows;
}

bool KernelEmitter::EmitMatrixTile(const tir::ForNode* op, const tir::Stmt& zeros) {
  if (op->annotations.empty() || mask_ != nullptr || options_.check_bounds) return false;
  const auto found = tir::FindMatrixTile(op);
  if (!found) return false;
  const tir::MatrixTile& tile = *found;
  if (zeros.defined() && !tir::SetsToZero(zeros, tile)) return false;
  const auto unit = tir::FindMatrixUnit(target_, tile.dot->op);
  if (!unit) return false;
  // Of a number of rows that only the run tells as many registers are used as of the greatest.
  const std::optional<int64_t> known_rows = AsConstInt(tile.num_rows);
  const int64_t rows = known_rows.value_or(*AsConstInt(tile.row->extent)), columns = *AsConstInt(tile.column->extent);
  const Registers registers = RegistersOf(*unit, rows, columns);
  if (registers.Turning() < 1) return false;
  const tir::ForNode* innermost = tile.depth.back();
  const int64_t depth = tir::DepthOfStep(*unit, *AsConstInt(innermost->extent));

  const Shapes shapes = ShapesOf(tile, *unit, registers, rows, columns);
  // Tiles that take turns in a register have one shape.
  const int64_t turns = std::max(registers.row_tiles, registers.column_tiles);
  const bool are_whole = registers.rows_stay() ? columns % unit->columns == 0 : rows % unit->rows == 0;
  if (registers.Turning() < turns && (!are_whole || tile.products != nullptr)) return false;

  const bool is_set = known_rows && frame_->tile_shapes == shapes.bytes();
  llvm::Value* some_rows = nullptr;
  if (!known_rows) {
    some_rows = SetTileShapesOfRows(shapes.bytes(), tile.num_rows, registers.row_tiles, unit->rows, [&](int64_t i) {
      std::vector<int64_t> of_rows = {registers.A(i)};
      for (int64_t j = 0; j < registers.column_tiles; ++j) of_rows.push_back(registers.C(i, j));
      return of_rows;
    });
  } else if (!is_set) {
    if (frame_->parallel_body && !frame_->tile_shapes) {
      llvm::IRBuilder<> entry(frame_->alloca_point);
      SetTileShapes(shapes.bytes(), &entry);
      frame_->tile_shapes = shapes.bytes();
    } else {
      SetTileShapes(shapes.bytes(), &builder_);
    }
  }

  const ExprVarMap origin = {{tile.row->loop_var, MakeConst(tile.row->loop_var.dtype(), 0)},
                             {tile.column->loop_var, MakeConst(tile.column->loop_var.dtype(), 0)}};
  // The address of a tile of an access, in one of the products.
  const auto address = [&](const tir::Buffer& buffer, const Array<PrimExpr>& indices, int64_t offset,
                           int64_t product = 0) {
    const PrimExpr first = Substitute(tir::IndexOfProduct(indices[0], tile.products, product), origin);
    llvm::Value* index = builder_.CreateAdd(EmitIndex(first), builder_.getInt64(static_cast<uint64_t>(offset)));
    return ElementAddress(buffer, index);
  };
  const auto immediate = [&](int64_t reg) { return builder_.getInt8(static_cast<uint8_t>(reg)); };
  const auto bytes = [&](int64_t stride) { return builder_.getInt64(static_cast<uint64_t>(4 * stride)); };
  const auto move_tile = [&](llvm::Intrinsic::ID id, int64_t i, int64_t j) {
    const int64_t offset = i * unit->rows * tile.c_stride + j * unit->columns;
    llvm::Value* at = address(tile.store->buffer, tile.store->indices, offset);
    builder_.CreateIntrinsic(id, {}, {immediate(registers.C(i, j)), at, bytes(tile.c_stride)});
  };
  const auto move_c = [&](llvm::Intrinsic::ID id) {
    for (int64_t i = 0; i < registers.row_tiles; ++i) {
      for (int64_t j = 0; j < registers.column_tiles; ++j) move_tile(id, i, j);
    }
  };
  const auto load_a = [&](int64_t i, int64_t product = 0) {
    llvm::Value* at = address(tile.a->buffer, tile.a->indices, i * unit->rows * tile.a_stride, product);
    if (some_rows != nullptr && i > 0) {
      // Where there are none for this register it gets the first once more, and its sums are not read.
      llvm::Value* has_rows =
          builder_.CreateICmpSGT(some_rows, builder_.getInt64(static_cast<uint64_t>(i * unit->rows)));
      at = builder_.CreateSelect(has_rows, at, address(tile.a->buffer, tile.a->indices, 0, product));
    }
    builder_.CreateIntrinsic(llvm::Intrinsic::x86_tileloadd64, {},
                             {immediate(registers.A(i)), at, bytes(tile.a_stride)});
  };
  const auto load_b = [&](int64_t j, int64_t product = 0) {
    llvm::Value* at = address(tile.b->buffer, tile.b->indices, j * unit->columns, product);
    builder_.CreateIntrinsic(llvm::Intrinsic::x86_tileloadd64, {},
                             {immediate(registers.B(j)), at, bytes(tile.b_stride)});
  };
  const auto multiply = [&](int64_t i, int64_t j) {
    const auto id =
        tir::ProductsOfDot(tile.dot->op) == 4 ? llvm::Intrinsic::x86_tdpbusd : llvm::Intrinsic::x86_tdpbf16ps;
    builder_.CreateIntrinsic(id, {},
                             {immediate(registers.C(i, j)), immediate(registers.A(i)), immediate(registers.B(j))});
  };

  if (zeros.defined()) {
    for (int64_t reg = 0; reg < registers.First(); ++reg)
      builder_.CreateIntrinsic(llvm::Intrinsic::x86_tilezero, {}, {immediate(reg)});
  } else {
    move_c(llvm::Intrinsic::x86_tileloadd64);
  }
  const std::vector<Prefetch::Pass> outer_passes = prefetch_.passes;
  // The loops of the sum, the innermost one by steps.
  std::vector<llvm::PHINode*> counters;
  std::vector<llvm::BasicBlock*> heads;
  for (const tir::ForNode* loop : tile.depth) {
    llvm::BasicBlock* before = builder_.GetInsertBlock();
    auto* head = llvm::BasicBlock::Create(llvm_, std::string(loop->loop_var->name_hint) + ".tiles", frame_->function);
    builder_.CreateBr(head);
    builder_.SetInsertPoint(head);
    llvm::Type* type = RegisterType(loop->loop_var.dtype());
    llvm::PHINode* counter = builder_.CreatePHI(type, 2, std::string(loop->loop_var->name_hint));
    counter->addIncoming(llvm::ConstantInt::get(type, 0), before);
    values_[loop->loop_var.get()] = counter;
    counters.push_back(counter);
    heads.push_back(head);
    if (!prefetch_.passes.empty()) prefetch_.passes.push_back({loop->loop_var, loop->extent, counter});
  }
  const PrimExpr b_index = Substitute(tir::IndexOfProduct(tile.b->indices[0], tile.products, 0), origin);
  const auto source = frame_->sources.find(tile.b->buffer->data.get());
  // What B is filled from lies as B does.
  const bool is_filled = source != frame_->sources.end() && source->second.step_bytes == 4 * tile.b_stride;
  EmitPrefetchOfNext(
      tile.b->buffer, b_index,
      [&] {
        if (!is_filled) return address(tile.b->buffer, tile.b->indices, 0);
        return builder_.CreateGEP(builder_.getInt32Ty(), source->second.begin, EmitIndex(b_index));
      },
      depth);
  prefetch_.passes = outer_passes;
  const auto multiply_products = [&] {
    // What a product shares with the one before stays in its registers; what it loads is multiplied at once.
    const int64_t count = *AsConstInt(tile.products->extent);
    const auto changes = [&](const tir::BufferLoadNode* load, int64_t product) {
      return product == 0 || !ExprEqual(tir::IndexOfProduct(load->indices[0], tile.products, product),
                                        tir::IndexOfProduct(load->indices[0], tile.products, product - 1));
    };
    for (int64_t product = 0; product < count; ++product) {
      const bool loads_a = changes(tile.a, product), loads_b = changes(tile.b, product);
      if (loads_a && !loads_b) {
        for (int64_t i = 0; i < registers.row_tiles; ++i) {
          load_a(i, product);
          for (int64_t j = 0; j < registers.column_tiles; ++j) multiply(i, j);
        }
        continue;
      }
      for (int64_t i = 0; loads_a && i < registers.row_tiles; ++i) load_a(i, product);
      for (int64_t j = 0; j < registers.column_tiles; ++j) {
        if (loads_b) load_b(j, product);
        for (int64_t i = 0; i < registers.row_tiles; ++i) multiply(i, j);
      }
    }
  };
  const auto multiply_once = [&] {
    const int64_t stay = registers.Staying();
    for (int64_t i = 0; i < stay; ++i) registers.rows_stay() ? load_a(i) : load_b(i);
    for (int64_t j = 0; j < turns; ++j) {
      registers.rows_stay() ? load_b(j) : load_a(j);
      for (int64_t i = 0; i < stay; ++i) registers.rows_stay() ? multiply(i, j) : multiply(j, i);
    }
  };
  tile.products == nullptr ? multiply_once() : multiply_products();
  const auto step_of = [&](size_t i) { return i + 1 == tile.depth.size() ? depth : 1; };
  std::vector<int64_t> steps;
  for (size_t i = 0; i < tile.depth.size(); ++i) steps.push_back(*AsConstInt(tile.depth[i]->extent) / step_of(i));
  const int64_t products = tile.products == nullptr ? 1 : *AsConstInt(tile.products->extent);
  const auto early_stores = EarlyStoresOf(steps, registers.First() * products);
  // After an iteration of the loop that they belong to, the next of which begins at `next`.
  const auto store_early = [&](llvm::Value* next, const std::function<llvm::Value*(int64_t)>& constant) {
    llvm::Value* iterations = builder_.CreateUDiv(next, constant(step_of(early_stores->loop)));
    llvm::Value* rest = builder_.CreateURem(iterations, constant(early_stores->period));
    auto* stores = llvm::BasicBlock::Create(llvm_, "tile.store", frame_->function);
    auto* after = llvm::BasicBlock::Create(llvm_, "tile.stored", frame_->function);
    builder_.CreateCondBr(builder_.CreateIsNull(rest), stores, after);
    builder_.SetInsertPoint(stores);
    move_tile(llvm::Intrinsic::x86_tilestored64, 0, 0);
    builder_.CreateBr(after);
    builder_.SetInsertPoint(after);
  };
  for (size_t i = tile.depth.size(); i-- > 0;) {
    llvm::PHINode* counter = counters[i];
    const int64_t step = step_of(i);
    const auto constant = [&](int64_t value) {
      return llvm::ConstantInt::get(counter->getType(), static_cast<uint64_t>(value));
    };
    llvm::Value* next = builder_.CreateAdd(counter, constant(step), "", false, true);
    if (early_stores && early_stores->loop == i) store_early(next, constant);
    auto* after = llvm::BasicBlock::Create(llvm_, "tiles.end", frame_->function);
    counter->addIncoming(next, builder_.GetInsertBlock());
    builder_.CreateCondBr(builder_.CreateICmpSLT(next, constant(*AsConstInt(tile.depth[i]->extent))), heads[i], after);
    builder_.SetInsertPoint(after);
  }
  move_c(llvm::Intrinsic::x86_tilestored64);

  if (!is_set && (!known_rows || frame_->tile_shapes != shapes.bytes())) {
    if (frame_->tile_shapes) {
      SetTileShapes(*frame_->tile_shapes, &builder_);
    } else {
      builder_.CreateIntrinsic(llvm::Intrinsic::x86_tilerelease, {}, {});
    }
  }
  return true;
}

}  // namespace deuteron::codegen
