/// \file
/// The interpreter of byte code. Internal: see instance.h.
#pragma once

#include <tvm/ffi/any.h>
#include <tvm/ffi/container/array.h>
#include <tvm/ffi/function.h>

#include <chrono>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "deuteron/runtime/instance.h"
#include "deuteron/support/aligned_memory.h"

namespace deuteron::runtime {

using tvm::ffi::Any;

/// The state of one call of a function; reused from call to call.
struct Frame {
  const FunctionSpec* function = nullptr;
  std::vector<int64_t> cells;
  std::vector<void*> slots;
  std::vector<Any> objects;
  void* arena = nullptr;
  int64_t arena_bytes = 0;
  /// Of slots whose constants had not been compared with their checksums when the frame was made: the constant + 1.
  /// Empty where there are none.
  std::vector<uint32_t> unchecked;
  /// No offset of the arena depends on a shape: slots are placed when the arena is made.
  bool arena_is_static = false;

  Frame() = default;
  Frame(const Frame&) = delete;
  Frame& operator=(const Frame&) = delete;
  ~Frame() { FreeAligned(arena); }
};

/// Checks `value` against `type`; writes the cells that the type binds. `what` names the value in errors: a UsageError
/// for an input of the user's, else a ModelError.
void MatchValue(const Program& program, const TypeSpec& type, const Any& value, Frame* frame, const std::string& what,
                bool is_input);

/// The instruction kArith at `words`: a cell from others. What a shape does where there is none, else null.
const char* Arith(const uint32_t* words, Frame* frame);

/// Runs functions of one executable. One thread at a time.
class Machine {
 public:
  /// `run_bytes`: the most that arenas and results may take together.
  Machine(std::shared_ptr<const Executable> executable, int threads, int64_t run_bytes);

  /// `outputs`: the caller's tensors for the results of this call (not of functions that it calls); may be empty.
  Any Call(size_t function, std::span<const Any> arguments, std::span<const Tensor> outputs);

  const Executable& executable() const { return *executable_; }
  int threads() const { return threads_; }
  int64_t arena_bytes() const { return arena_bytes_; }
  Profiler profiler;

 private:
  class FrameLease;
  template <bool kProfile>
  Any Execute(Frame* frame, std::span<const Tensor> outputs);
  void RunKernel(Frame* frame, const uint32_t* words);
  /// What lies in a slot: a constant is compared with its checksum before it does.
  void* DataOf(Frame* frame, uint32_t slot, const uint32_t* words) const;
  /// A constant that the instruction at `words` uses.
  void* ConstantOf(const Frame& frame, uint32_t constant, const uint32_t* words) const;
  void Enter(Frame* frame);
  void Load(Frame* frame, uint32_t slot, uint32_t object) const;
  Tensor Alloc(Frame* frame, const TypeSpec& type, uint32_t output, std::span<const Tensor> outputs) const;
  Any CallPacked(Frame* frame, const uint32_t* words);
  Any Invoke(const Any& callee, std::vector<Any> arguments, std::span<const Tensor> outputs);
  Any Loop(Frame* frame, const uint32_t* words);
  Any MakeLiteral(const Literal& literal) const;
  /// The node, or the file of text, that an instruction comes from; "" where none is known.
  std::string PlaceOf(const FunctionSpec& function, const uint32_t* words) const;
  /// " (at PLACE)", or nothing.
  std::string SourceOf(const FunctionSpec& function, const uint32_t* words) const;
  /// Ends the run: what a shape does that the instruction at `words` computes (Arith).
  [[noreturn]] void RefuseShape(const Frame& frame, const uint32_t* words, const char* problem) const;
  void Record(const Frame& frame, const uint32_t* words, std::string_view name,
              std::chrono::steady_clock::time_point begin, std::span<const int64_t> parts = {}) const;

  static int ContextParallelFor(const DeuteronContext* context, int64_t extent, int64_t grain,
                                int (*body)(void*, int64_t, int64_t), void* closure);
  static void ContextSetError(const DeuteronContext* context, const char* message);

  std::shared_ptr<const Executable> executable_;
  const Program& program_;
  int threads_;
  int64_t run_bytes_;
  DeuteronContext context_{};
  std::vector<std::vector<std::unique_ptr<Frame>>> free_frames_;
  /// External functions by string, found at their first call.
  std::vector<tvm::ffi::Function> packed_;
  std::vector<void*> data_;
  std::vector<int64_t> scalars_;
  int64_t arena_bytes_ = 0;
  int depth_ = 0;
  std::mutex error_mutex_;
  std::string error_;
};

/// Scratch memory of kernels: a few blocks are kept for each thread, since kernels ask for the same again and again.
void* AllocateScratch(const DeuteronContext* context, int64_t bytes);
void ReleaseScratch(const DeuteronContext* context, void* memory);

}  // namespace deuteron::runtime
