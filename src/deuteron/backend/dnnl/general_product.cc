#include "deuteron/backend/dnnl/general_product.h"

#include <exception>
#include <mutex>
#include <string_view>

#include "deuteron/backend/dnnl/gomp.h"
#include "deuteron/support/fork.h"
#include "deuteron/support/thread_placement.h"

namespace deuteron::backend::dnnl {
namespace {

/// All variants are generated at once, whatever is computed.
void Generate(const DeuteronHost* host) {
  constexpr int kSide = 2;
  constexpr float kOperand[kSide * kSide] = {};
  float result[kSide * kSide];
  const RegionThreads scope(host, 1);
  dnnl_sgemm('N', 'N', kSide, kSide, kSide, 1, kOperand, kSide, kOperand, kSide, 0, result, kSide);
}

struct Generation {
  /// Held while oneDNN generates: in a process that forks meanwhile nobody would end it.
  std::mutex mutex;
  /// Whether the process ends, and oneDNN's static objects go.
  bool is_over = false;

  Generation() { HoldAcrossFork(&mutex); }
  static Generation& Get() {
    static auto* generation = new Generation;
    return *generation;
  }
};

/// Waits for the thread as the process ends.
struct End {
  ~End() {
    const std::lock_guard lock(Generation::Get().mutex);
    Generation::Get().is_over = true;
  }
};

}  // namespace

bool CallsGeneralProduct(const ::dnnl::primitive_desc_base& description) {
  if (std::string_view(description.impl_info_str()).find("gemm:jit") == std::string_view::npos) return false;
  // A matrix by a vector has code of its own.
  const ::dnnl::memory::dims result = description.query_md(::dnnl::query::dst_md).get_dims();
  return result.size() < 2 || (result.back() > 1 && result[result.size() - 2] > 1);
}

void BeginGeneralProduct(const DeuteronHost* host) {
  static std::once_flag once;
  try {
    std::call_once(once, [host] {
      Generation& generation = Generation::Get();
      static const End end;
      ThreadBeside([host, &generation] {
        const std::lock_guard lock(generation.mutex);
        if (!generation.is_over) Generate(host);
      }).Detach();
    });
  } catch (const std::exception&) {
    // There is no thread for it, or no memory.
  }
}

}  // namespace deuteron::backend::dnnl
