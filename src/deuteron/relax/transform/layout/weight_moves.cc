#include "deuteron/relax/transform/layout/weight_moves.h"

#include <algorithm>
#include <utility>

#include "deuteron/relax/rewrite/constant_data.h"
#include "deuteron/relax/transform/layout/packed_operands.h"
#include "deuteron/support/limits.h"

namespace deuteron::relax {
namespace {

/// Of so many bytes threads share out the parts of one weight.
constexpr int64_t kBytesOfLarge = 1 << 19;

int64_t BytesOf(const Constant& weight) { return weight->data.numel() * DataType(weight->data.dtype()).bytes(); }

}  // namespace

void WeightMoves::Add(const Constant& weight, std::function<void()> move) {
  const int64_t bytes = BytesOf(weight);
  auto& moves = bytes < kBytesOfLarge ? small_ : large_;
  moves.push_back({bytes, [weight, move = std::move(move)] {
                     move();
                     LetGoOfData(weight);
                   }});
}

void WeightMoves::Run() {
  for (const Move& move : large_) {
    CheckBudget("PackWeights");
    move.run();
  }
  // The last ones are the smallest.
  std::stable_sort(small_.begin(), small_.end(), [](const Move& a, const Move& b) { return a.bytes > b.bytes; });
  int64_t bytes = 0;
  for (const Move& move : small_) bytes += move.bytes;
  MakeInParallel(std::ssize(small_), bytes, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) small_[static_cast<size_t>(i)].run();
  });
  large_.clear();
  small_.clear();
}

bool WeightMoves::FindInfinite() {
  const std::vector<std::pair<const Object*, Constant>> all(expected_finite_.begin(), expected_finite_.end());
  expected_finite_.clear();
  std::vector<char> is_infinite(all.size());
  int64_t bytes = 0;
  for (const auto& [weight, packed] : all) bytes += BytesOf(packed);
  MakeInParallel(std::ssize(all), bytes, [&](int64_t begin, int64_t end) {
    for (auto i = static_cast<size_t>(begin); i < static_cast<size_t>(end); ++i) {
      is_infinite[i] = static_cast<char>(!AreFiniteHalves(all[i].second));
    }
  });
  const size_t before = infinite_.size();
  for (size_t i = 0; i < all.size(); ++i) {
    if (is_infinite[i] != 0) infinite_.insert(all[i].first);
  }
  return infinite_.size() != before;
}

}  // namespace deuteron::relax
