#include "deuteron/backend/dnnl/arenas.h"

#include <gtest/gtest.h>

#include <optional>
#include <utility>

namespace deuteron::backend::dnnl {
namespace {

std::map<void*, int64_t> live;
int64_t LiveBytes() {
  int64_t bytes = 0;
  for (const auto& [memory, size] : live) bytes += size;
  return bytes;
}

class ArenasTest : public testing::Test {
 protected:
  ArenasTest() {
    host_.allocate = [](int64_t bytes) -> void* {
      if (bytes > 1000) return nullptr;
      void* const memory = std::malloc(static_cast<size_t>(bytes));
      live.emplace(memory, bytes);
      return memory;
    };
    host_.release = [](void* memory) {
      live.erase(memory);
      std::free(memory);
    };
  }

  DeuteronHost host_{};
  Arenas arenas_{&host_};
};

TEST_F(ArenasTest, PlansThatAreCalledOneAfterTheOtherShareOne) {
  const Arenas::User small(&arenas_, 100), large(&arenas_, 300), medium(&arenas_, 200);
  const void* last = nullptr;
  for (const size_t bytes : {100, 300, 200, 100}) {
    Arenas::Arena arena = arenas_.Take(bytes);
    EXPECT_GE(arena.bytes, bytes);
    if (bytes < 300 && last != nullptr) {
      EXPECT_EQ(arena.data.get(), last);
    }
    if (bytes == 300) last = arena.data.get();
    arenas_.GiveBack(std::move(arena));
  }
  EXPECT_EQ(LiveBytes(), 300);
}

TEST_F(ArenasTest, CallsAtOnceHaveOneEach) {
  const Arenas::User user(&arenas_, 100);
  Arenas::Arena first = arenas_.Take(100), second = arenas_.Take(100);
  EXPECT_NE(first.data.get(), second.data.get());
  arenas_.GiveBack(std::move(first));
  arenas_.GiveBack(std::move(second));
  EXPECT_EQ(LiveBytes(), 200);
}

TEST_F(ArenasTest, KeepNoMoreThanThePlansThatThereAreNeed) {
  const Arenas::User small(&arenas_, 100);
  std::optional<Arenas::User> large(std::in_place, &arenas_, 300);
  Arenas::Arena idle = arenas_.Take(300), taken = arenas_.Take(300), fits = arenas_.Take(100);
  arenas_.GiveBack(std::move(idle));
  arenas_.GiveBack(std::move(fits));
  large.reset();
  EXPECT_EQ(LiveBytes(), 400);
  arenas_.GiveBack(std::move(taken));
  EXPECT_EQ(LiveBytes(), 100);
}

TEST_F(ArenasTest, SayThatThereIsNoMemory) {
  const Arenas::User user(&arenas_, 2000);
  EXPECT_THROW(arenas_.Take(2000), tvm::ffi::Error);
  EXPECT_EQ(LiveBytes(), 0);
}

}  // namespace
}  // namespace deuteron::backend::dnnl
