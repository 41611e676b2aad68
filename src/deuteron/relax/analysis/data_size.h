/// \file
/// How many bytes values take: what fusion saves is counted in them.
#pragma once

#include <cstdint>
#include <string>

#include "deuteron/relax/expr.h"

namespace deuteron::relax {

/// A sum of sizes, exact: a number, plus an expression in symbolic dimensions. Sizes that types do not tell (unknown
/// rank, shapes that depend on data) count as nothing and are remembered as `unknown`.
class DataSize {
 public:
  /// Adds the bytes of all tensors in a value of type `type`; sub-byte elements are counted as packed.
  void Add(const Type& type);
  void Add(const DataSize& other);
  void Add(int64_t number) { number_ += number; }
  void Add(const PrimExpr& expr);

  bool is_number() const { return !symbolic_.defined() && !unknown_; }
  /// The part that is a number.
  int64_t number() const { return number_; }
  bool unknown() const { return unknown_; }
  /// "64", "4 * n * 128 + 64", or "?" if nothing is known.
  std::string Text() const;

 private:
  int64_t number_ = 0;
  /// Null if there is none.
  PrimExpr symbolic_;
  bool unknown_ = false;
};

/// Bytes that a call of a kernel reads and writes, each distinct tensor once. In place counts both ways.
struct Traffic {
  DataSize read;
  DataSize written;
};
/// Of a call_tir, call_tir_inplace, call_dps_packed or any other call whose arguments and result are tensors.
Traffic TrafficOf(const Expr& value);

}  // namespace deuteron::relax
