/// \file
/// A graph as oneDNN primitives: built once for each combination of shapes, executed many times.
#pragma once

#include <dnnl.hpp>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "deuteron/backend/dnnl/channels.h"
#include "deuteron/backend/dnnl/packed_constants.h"
#include "deuteron/backend/dnnl/primitive_maker.h"
#include "deuteron/backend/json/json_runtime.h"

namespace deuteron::backend::dnnl {

using ::dnnl::memory;

/// A CPU; the process has one.
const ::dnnl::engine& Engine();
bool IsEmpty(const memory::dims& dims);
/// The plain, row-major description.
memory::desc PlainDesc(const std::vector<int64_t>& dims, memory::data_type type);
memory::data_type DataTypeOf(const std::string& dtype);

/// A tensor while a plan is built: where it will be and how it is laid out.
struct Value {
  enum Place { kInput, kOutput, kConstant, kBuffer, kMemory, kNone };
  Place place = kNone;
  /// Input, output or buffer number.
  uint32_t index = 0;
  /// Bytes into it at which it begins.
  size_t offset = 0;
  const void* data = nullptr;
  /// kMemory: a packed constant, or Filled().
  memory packed;
  memory::desc desc;
};

/// Builds a plan step by step; the kernels (kernels.cc) call it.
class PlanBuilder {
 public:
  PlanBuilder(PackedConstants* constants, const DeuteronHost* host, int threads)
      : constants_(constants), host_(host), maker_(host, threads) {}

  Value Input(uint32_t index, const memory::desc& desc);
  Value Constant(const void* data, const memory::desc& desc);
  /// A tensor whose elements all are `value`, rounded to the type that `desc` says.
  Value Filled(const memory::desc& desc, float value);
  /// `value` laid out as `desc`: itself, or a copy.
  Value AsLayout(const Value& value, const memory::desc& desc);
  /// A new buffer.
  Value Buffer(const memory::desc& desc);
  /// Appends a primitive, which Finish makes; its scratchpad is added. `arguments` by DNNL_ARG_….
  void Add(const ::dnnl::primitive_desc_base& description, std::vector<std::pair<int, Value>> arguments);
  /// The same; DNNL_ARG_DST may lie where the first of `arguments` does, if nobody reads that afterwards.
  void AddInPlace(const ::dnnl::primitive_desc_base& description, std::vector<std::pair<int, Value>> arguments);
  /// Of a plain input or buffer, the first `count` along its first dimension. What is added from now on until EndParts
  /// is executed once for each such part.
  Value BeginParts(const Value& value, int64_t count);
  /// `parts` parts, one after the other, of which each gives such a plain `result`: all results, along the first
  /// dimension.
  Value EndParts(const Value& result, int64_t parts);
  /// What is added from now on is part of the graph's kernel `index`.
  void BeginKernel(uint32_t index) { kernel_ = index; }
  /// `value` is result `index` of the graph.
  void Output(uint32_t index, const Value& value, const memory::desc& plain);

  /// Throws Refused.
  std::shared_ptr<const JsonRuntime::Plan> Finish();

  /// What oneDNN says of a primitive that it does not make.
  struct Refused : ::dnnl::error {
    Refused(const ::dnnl::error& error, uint32_t kernel) : ::dnnl::error(error), kernel(kernel) {}
    /// The one that it is for.
    uint32_t kernel;
  };
  struct Step {
    /// Its number in the PrimitiveMaker.
    size_t number = 0;
    ::dnnl::primitive primitive;
    /// By DNNL_ARG_….
    std::vector<std::pair<int, Value>> arguments;
    /// Instead of the primitive, from the first argument to the second.
    std::optional<Transposition> transposition;
    bool may_be_in_place = false;
    /// The one that it is for.
    uint32_t kernel;
  };
  struct BufferInfo {
    size_t bytes = 0;
    size_t offset = 0;
    int first = -1;
    int last = -1;
  };

 private:
  /// Lets results lie where first arguments do, where they may.
  void MergeInPlace();
  size_t PlaceBuffers();
  void TakePrimitives();
  /// Appends what copies `from` to `to`, each laid out as it says.
  void Copy(const Value& from, const Value& to);
  void Append(Step step);

  PackedConstants* constants_;
  const DeuteronHost* host_;
  uint32_t kernel_ = 0;
  std::vector<Step> steps_;
  std::vector<BufferInfo> buffers_;
  /// Copies made so far of inputs and buffers: (place, index) → (as what it was seen, copy).
  std::map<std::pair<int, uint64_t>, std::vector<std::pair<memory::desc, Value>>> copies_;
  /// Between BeginParts and EndParts: the first step, and the bytes of a part of what is taken apart.
  size_t first_of_parts_ = 0;
  std::map<std::pair<int, uint32_t>, size_t> part_bytes_;
  /// Buffers that have become outputs.
  std::map<uint32_t, uint32_t> moved_;
  PrimitiveMaker maker_;
};

}  // namespace deuteron::backend::dnnl
