#include "deuteron/support/pointer_map.h"

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <unordered_map>
#include <vector>

namespace deuteron {
namespace {

TEST(PointerMap, AgreesWithTheStandardMap) {
  std::mt19937 random(7);
  std::vector<std::unique_ptr<int>> objects;
  for (int i = 0; i < 5000; ++i) objects.push_back(std::make_unique<int>(i));
  PointerMap<int> map;
  std::unordered_map<const void*, int> reference;
  for (int round = 0; round < 20000; ++round) {
    const void* key = objects[random() % objects.size()].get();
    ASSERT_EQ(map.contains(key), reference.count(key) != 0);
    if (round % 3 == 0) continue;
    const auto [value, is_new] = map.Insert(key);
    ASSERT_EQ(is_new, reference.find(key) == reference.end());
    *value = reference[key] = round;
  }
  ASSERT_EQ(map.size(), reference.size());
  for (const auto& object : objects) {
    const int* value = map.Find(object.get());
    const auto it = reference.find(object.get());
    ASSERT_EQ(value != nullptr, it != reference.end());
    if (value != nullptr) {
      ASSERT_EQ(*value, it->second);
    }
  }
}

TEST(PointerMap, ForgetsAndStartsAgain) {
  std::vector<int> objects(4096);
  PointerMap<std::unique_ptr<int>> map;
  EXPECT_EQ(map.Find(objects.data()), nullptr);
  for (const size_t count : {size_t{3}, objects.size(), size_t{5}}) {
    map.Reserve(count);
    for (size_t i = 0; i < count; ++i) map[&objects[i]] = std::make_unique<int>(static_cast<int>(i));
    EXPECT_EQ(map.size(), count);
    for (size_t i = 0; i < count; ++i) EXPECT_EQ(**map.Find(&objects[i]), static_cast<int>(i));
    map.Clear();
    EXPECT_TRUE(map.empty());
    EXPECT_FALSE(map.contains(&objects[0]));
  }
}

TEST(PointerSet, SaysWhatIsNew) {
  int objects[3] = {};
  PointerSet set;
  EXPECT_TRUE(set.Insert(&objects[0]));
  EXPECT_TRUE(set.Insert(&objects[1]));
  EXPECT_FALSE(set.Insert(&objects[0]));
  EXPECT_TRUE(set.contains(&objects[1]));
  EXPECT_FALSE(set.contains(&objects[2]));
  PointerSet moved = std::move(set);
  EXPECT_EQ(moved.size(), 2U);
}

}  // namespace
}  // namespace deuteron
