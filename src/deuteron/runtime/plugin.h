/// \file
/// Plugins: shared libraries beside the runtime (`libdeuteron_<name>.so`) that make functions of kernel libraries
/// callable.
///
/// A plugin links no part of the runtime: what it needs of it comes in a DeuteronHost. It exports one function in
/// tvm-ffi's calling convention, `__tvm_ffi_deuteron_create`:
///
///     Function create(void* host, String symbol, Bytes code, Array<String> constant_names, Array<Tensor> constants)
///
/// which returns a function of tensors, the results last (destination-passing style). The constants live as long as
/// the function; it is called by several threads at once. So is create, for functions that are made side by side,
/// within loops of the pool: a team that is begun there has no threads. A plugin `NAME` that is compiled into the
/// runtime needs no library: `shared_object`, whose code is a shared object with one C function (kernel_function.h).
///
/// It may export a second one of the same arguments, `__tvm_ffi_deuteron_pack`, which the compiler calls for the
/// machine it runs on, for several functions at once too:
///
///     Array<Any> pack(void* host, String symbol, Bytes code, Array<String> constant_names, Array<Tensor> constants)
///
/// It gives the code and the constants (Bytes, Array<Tensor>) that an executable should hold instead: constants lie as
/// the library reads them then, once and not twice, and loading moves none. What it gives must do on any machine. A
/// third element, an int64, asks for a workspace: calls get one tensor more, the last, of so many bytes (uint8), whose
/// contents nobody keeps. It lies where intermediates do; where it is too small the function takes memory of its own.
///
/// A third one, `__tvm_ffi_deuteron_version`, is for people: `String version()`. And a fourth one,
/// `__tvm_ffi_deuteron_problem`, is asked before any other: `String problem()`, why the library cannot be used on this
/// machine, empty if it can.
#pragma once

#include <tvm/ffi/function.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "deuteron/runtime/program.h"

extern "C" {

inline constexpr uint32_t kDeuteronHostVersion = 5;

/// What the runtime does for plugins.
struct DeuteronHost {
  uint32_t version;
  /// How many threads the call that is running in this thread should use; at least 1.
  int (*threads)(void);
  /// How many of them a team that is begun now has without further ones being made: 1 where something is prepared for
  /// such calls beside others.
  int (*team_threads)(void);
  /// Starts `body(closure, i)` for i in [1, count) in threads of the pool, all of them at once: bodies may
  /// wait for each other. The caller does the work of index 0 itself and then calls end_team. Null where there are no
  /// threads for it.
  void* (*begin_team)(int count, void (*body)(void* closure, int index), void* closure);
  /// Returns when all have returned.
  void (*end_team)(void* team);
  /// As DeuteronContext::parallel_for, with threads().
  int (*parallel_for)(int64_t extent, int64_t grain, int (*body)(void* closure, int64_t begin, int64_t end),
                      void* closure);
  /// Whether the call that is running in this thread is being measured.
  int (*is_profiled)(void);
  /// Of a call that is measured: `nanoseconds` more went into its kernel `index`, counted from 0 in the order in which
  /// the function was given its kernels.
  void (*record_kernel)(uint32_t index, int64_t nanoseconds);
  /// Memory as tensors have it, aligned to 64 bytes (an embedder's, where it has hooks); null where there is none.
  void* (*allocate)(int64_t bytes);
  void (*release)(void* memory);
  /// Says that a constant, of which the plugin has a copy now, is done with for the time being: what of it lies in a
  /// file that is mapped leaves memory, and is read again if somebody asks.
  void (*let_go)(const void* data, size_t bytes);
};

}  // extern "C"

namespace deuteron {
struct FileState;
}

namespace deuteron::runtime {

using tvm::ffi::Tensor;

/// Why plugin `name` cannot be used: its file is missing, or what it needs is; empty if it can. The first call loads
/// it.
std::string PluginProblem(const std::string& name);

/// The same as far as can be told at once: the file is looked for, and not loaded where it lies beside the runtime.
std::string PluginAbsence(const std::string& name);

/// The files that the plugin `name` would be read from, those of its library among them; of one that does not lie
/// beside the runtime the one that would. Nothing if only opening it can tell.
std::optional<std::vector<FileState>> PluginFiles(const std::string& name);

/// What the plugin `name` calls its library and the version of it that is there, "oneDNN 3.2.0"; empty if it does not
/// say so, or cannot be used.
std::string PluginVersion(const std::string& name);

/// The code and the constants of `external` as its plugin wants to find them when it is loaded on this machine, for
/// calls with `threads` threads, and the bytes of the workspace that these need; as they are if it does not care, or is
/// missing.
struct PackedExternal {
  std::string code;
  std::vector<Tensor> constants;
  int64_t workspace_bytes = 0;
};
PackedExternal PackExternal(const ExternalSpec& external, std::span<const Tensor> constants, int threads);

/// Whether the plugin `name` makes of large constants what it reads itself, wherever they lie (elements at any
/// address).
bool PacksConstants(const std::string& name);

/// The callable function of `external`; `constants` in its order. An UnsupportedError that names the plugin if it is
/// missing.
tvm::ffi::Function LoadExternal(const ExternalSpec& external, std::span<const Tensor> constants);

/// Threads of the call that runs in this thread, for plugins.
class CallThreads {
 public:
  explicit CallThreads(int threads);
  ~CallThreads();
  CallThreads(const CallThreads&) = delete;
  CallThreads& operator=(const CallThreads&) = delete;

 private:
  int before_;
};

/// Calls `prepare(i)` for each i < sizes.size(), side by side where that pays: what plugins do ahead of calls that will
/// have `threads` threads. `sizes` says about how much work each is. Throws what one of them throws; others may be left
/// out then.
void PrepareEach(std::span<const size_t> sizes, int threads, const std::function<void(size_t)>& prepare);

/// Measures the call that runs in this thread: `kernels` gets the nanoseconds of each of its kernels, if its plugin
/// tells them.
class CallProfile {
 public:
  explicit CallProfile(std::vector<int64_t>* kernels);
  ~CallProfile();
  CallProfile(const CallProfile&) = delete;
  CallProfile& operator=(const CallProfile&) = delete;

 private:
  std::vector<int64_t>* before_;
};

}  // namespace deuteron::runtime
