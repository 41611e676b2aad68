#include "deuteron/backend/kernel_choice.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>

namespace deuteron::backend {
namespace {

using Library = std::vector<bool>;

TEST(KernelChoice, TakesTheLesserOfTwoEstimates) {
  KernelChoice choice;
  choice.AddKernel(1e-6, 2e-6);
  choice.AddKernel(2e-6, 1e-6);
  choice.AddKernel(1e-6, 1e-6);
  EXPECT_EQ(choice.Choose(), (Library{true, false, false}));
}

TEST(KernelChoice, AsNeighboursDoWhereTheValueBetweenCostsMore) {
  for (const double between : {0.5e-6, 2e-6}) {
    KernelChoice choice;
    const size_t first = choice.AddKernel(1e-6, 9e-6), second = choice.AddKernel(3e-6, 2e-6);
    const size_t third = choice.AddKernel(1e-6, 9e-6);
    choice.AddValue(first, std::vector{second}, between);
    choice.AddValue(second, std::vector{third}, between);
    EXPECT_EQ(choice.Choose(), (Library{true, between > 1e-6, true}));
  }
}

TEST(KernelChoice, AValueOfSeveralConsumersCostsOnce) {
  KernelChoice choice;
  const size_t first = choice.AddKernel(1e-6, 5e-6);
  choice.AddValue(first, std::vector{KernelChoice::kGenerated, KernelChoice::kGenerated}, 3e-6);
  EXPECT_EQ(choice.Choose(), (Library{true}));
}

TEST(KernelChoice, RequiresAProducerOfTheLibrary) {
  KernelChoice choice;
  const size_t producer = choice.AddKernel(9e-6, 1e-6), pool = choice.AddKernel(1e-6, 5e-6);
  choice.Require(pool, producer);
  EXPECT_EQ(choice.Choose(), (Library{false, false}));
}

TEST(KernelChoice, WhatKernelsShareCostsOnce) {
  for (const int alike : {1, 4}) {
    KernelChoice choice;
    std::vector<size_t> kernels;
    for (int i = 0; i < alike; ++i) kernels.push_back(choice.AddKernel(3e-6, 1e-6));
    choice.AddShared(KernelChoice::kGenerated, kernels, 5e-6);
    choice.AddShared(KernelChoice::kLibrary, kernels, 1e-6);
    const Library library = choice.Choose();
    EXPECT_EQ(library, Library(kernels.size(), alike == 1));
    EXPECT_NEAR(choice.SecondsOf(library), alike == 1 ? 4e-6 : 9e-6, 1e-12);
  }
}

/// The sum for a choice, by its definition.
struct Problem {
  std::vector<std::pair<int, int>> kernels;
  struct Value {
    size_t producer;
    std::vector<size_t> consumers;
    int cost;
  };
  std::vector<Value> values;
  struct Shared {
    bool of_library;
    std::vector<size_t> kernels;
    int cost;
  };
  std::vector<Shared> shared;

  int Cost(uint32_t library) const {
    const auto is_library = [&](size_t kernel) { return ((library >> kernel) & 1) != 0; };
    int sum = 0;
    for (size_t i = 0; i < kernels.size(); ++i) sum += is_library(i) ? kernels[i].first : kernels[i].second;
    for (const Value& value : values) {
      const bool leaves =
          is_library(value.producer) && !std::all_of(value.consumers.begin(), value.consumers.end(), is_library);
      const bool enters =
          !is_library(value.producer) && std::any_of(value.consumers.begin(), value.consumers.end(), is_library);
      if (leaves || enters) sum += value.cost;
    }
    for (const Shared& made : shared) {
      const auto needs = [&](size_t kernel) { return is_library(kernel) == made.of_library; };
      if (std::any_of(made.kernels.begin(), made.kernels.end(), needs)) sum += made.cost;
    }
    return sum;
  }
};

TEST(KernelChoice, IsTheLeastOfAllChoices) {
  std::mt19937 random(7);
  const auto up_to = [&](int most) { return static_cast<int>(random() % static_cast<uint32_t>(most + 1)); };
  for (int round = 0; round < 300; ++round) {
    Problem problem;
    const size_t count = 2 + static_cast<size_t>(up_to(7));
    for (size_t i = 0; i < count; ++i) problem.kernels.emplace_back(up_to(20), up_to(20));
    for (size_t i = 0; i + 1 < count; ++i) {
      Problem::Value value{i, {}, up_to(8)};
      for (size_t j = i + 1; j < count; ++j) {
        if (up_to(2) == 0) value.consumers.push_back(j);
      }
      problem.values.push_back(value);
    }
    for (int i = up_to(3); i > 0; --i) {
      Problem::Shared made{up_to(1) == 0, {}, up_to(15)};
      for (size_t j = 0; j < count; ++j) {
        if (up_to(2) == 0) made.kernels.push_back(j);
      }
      problem.shared.push_back(made);
    }
    KernelChoice choice;
    std::vector<size_t> numbers;
    for (const auto& [library, generated] : problem.kernels) {
      numbers.push_back(choice.AddKernel(library * 1e-6, generated * 1e-6));
    }
    for (const Problem::Value& value : problem.values) {
      std::vector<size_t> consumers;
      for (const size_t consumer : value.consumers) consumers.push_back(numbers[consumer]);
      choice.AddValue(numbers[value.producer], consumers, value.cost * 1e-6);
    }
    for (const Problem::Shared& made : problem.shared) {
      std::vector<size_t> kernels;
      for (const size_t kernel : made.kernels) kernels.push_back(numbers[kernel]);
      choice.AddShared(made.of_library ? KernelChoice::kLibrary : KernelChoice::kGenerated, kernels, made.cost * 1e-6);
    }
    uint32_t chosen = 0;
    const Library library = choice.Choose();
    for (size_t i = 0; i < count; ++i) chosen |= static_cast<uint32_t>(library[i]) << i;
    int least = std::numeric_limits<int>::max();
    for (uint32_t all = 0; all < (1U << count); ++all) least = std::min(least, problem.Cost(all));
    ASSERT_EQ(problem.Cost(chosen), least) << "round " << round;
    ASSERT_NEAR(choice.SecondsOf(library), least * 1e-6, 1e-12) << "round " << round;
  }
}

}  // namespace
}  // namespace deuteron::backend
