#include "deuteron/backend/kernel_choice.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace deuteron::backend {
namespace {

constexpr double kPicosecond = 1e-12;
/// More than all kernels of a network take, and so little that sums do not overflow: a day.
constexpr int64_t kForbidden = int64_t{86'400} * 1'000'000'000'000;

int64_t Picoseconds(double seconds) { return std::llround(std::min(seconds / kPicosecond, double{kForbidden})); }

}  // namespace

size_t KernelChoice::AddNode() {
  edges_of_.emplace_back();
  return edges_of_.size() - 1;
}

void KernelChoice::AddEdge(size_t from, size_t to, int64_t capacity) {
  edges_of_[from].push_back(edges_.size());
  edges_.push_back({to, capacity});
  edges_of_[to].push_back(edges_.size());
  edges_.push_back({from, 0});
}

size_t KernelChoice::AddKernel(double library_seconds, double generated_seconds) {
  const size_t kernel = AddNode();
  AddEdge(kLibrary, kernel, Picoseconds(generated_seconds));
  AddEdge(kernel, kGenerated, Picoseconds(library_seconds));
  kernels_.push_back({library_seconds, generated_seconds});
  return kernel;
}

void KernelChoice::AddValue(size_t producer, std::span<const size_t> consumers, double seconds) {
  values_.push_back({producer, {consumers.begin(), consumers.end()}, seconds});
  const size_t leaves = AddNode(), enters = AddNode();
  AddEdge(producer, leaves, Picoseconds(seconds));
  AddEdge(enters, producer, Picoseconds(seconds));
  for (const size_t consumer : consumers) {
    AddEdge(leaves, consumer, kForbidden);
    AddEdge(consumer, enters, kForbidden);
  }
}

void KernelChoice::Require(size_t kernel, size_t producer) { AddEdge(kernel, producer, kForbidden); }

void KernelChoice::AddShared(size_t side, std::span<const size_t> kernels, double seconds) {
  shared_.push_back({side, {kernels.begin(), kernels.end()}, seconds});
  const size_t made = AddNode();
  const bool is_library = side == kLibrary;
  // The cut passes the edge of `made` once a kernel lies on the other side of it.
  is_library ? AddEdge(made, kGenerated, Picoseconds(seconds)) : AddEdge(kLibrary, made, Picoseconds(seconds));
  for (const size_t kernel : kernels) {
    is_library ? AddEdge(kernel, made, kForbidden) : AddEdge(made, kernel, kForbidden);
  }
}

std::vector<int64_t> KernelChoice::Levels() const {
  std::vector<int64_t> levels(edges_of_.size(), -1);
  std::vector<size_t> reached = {kLibrary};
  levels[kLibrary] = 0;
  for (size_t i = 0; i < reached.size(); ++i) {
    for (const size_t edge : edges_of_[reached[i]]) {
      const auto [to, capacity] = edges_[edge];
      if (capacity == 0 || levels[to] >= 0) continue;
      levels[to] = levels[reached[i]] + 1;
      reached.push_back(to);
    }
  }
  return levels;
}

bool KernelChoice::Augment(const std::vector<int64_t>& levels, std::vector<size_t>* next) {
  std::vector<size_t> path;  // of edges
  size_t at = kLibrary;
  while (at != kGenerated) {
    size_t& tried = (*next)[at];
    const auto leads_on = [&](size_t edge) {
      return edges_[edge].capacity > 0 && levels[edges_[edge].to] == levels[at] + 1;
    };
    while (tried < edges_of_[at].size() && !leads_on(edges_of_[at][tried])) ++tried;
    if (tried < edges_of_[at].size()) {
      path.push_back(edges_of_[at][tried]);
      at = edges_[path.back()].to;
    } else {
      if (path.empty()) return false;
      at = edges_[path.back() ^ 1].to;
      path.pop_back();
      ++(*next)[at];
    }
  }
  int64_t flow = std::numeric_limits<int64_t>::max();
  for (const size_t edge : path) flow = std::min(flow, edges_[edge].capacity);
  for (const size_t edge : path) {
    edges_[edge].capacity -= flow;
    edges_[edge ^ 1].capacity += flow;
  }
  return true;
}

std::vector<bool> KernelChoice::Choose() {
  std::vector<int64_t> levels = Levels();
  for (; levels[kGenerated] >= 0; levels = Levels()) {
    std::vector<size_t> next(edges_of_.size(), 0);
    while (Augment(levels, &next)) {
    }
  }
  std::vector<bool> library;
  for (size_t i = 0; i < kernels_.size(); ++i) library.push_back(levels[kFirstKernel + i] >= 0);
  return library;
}

double KernelChoice::SecondsOf(const std::vector<bool>& choice) const {
  double seconds = 0;
  for (size_t i = 0; i < kernels_.size(); ++i) seconds += choice[i] ? kernels_[i].library : kernels_[i].generated;
  for (const Value& value : values_) {
    const bool is_library = IsLibrary(choice, value.producer);
    const auto differs = [&](size_t consumer) { return IsLibrary(choice, consumer) != is_library; };
    if (std::any_of(value.consumers.begin(), value.consumers.end(), differs)) seconds += value.seconds;
  }
  for (const Shared& shared : shared_) {
    const auto is_there = [&](size_t kernel) { return IsLibrary(choice, kernel) == (shared.side == kLibrary); };
    if (std::any_of(shared.kernels.begin(), shared.kernels.end(), is_there)) seconds += shared.seconds;
  }
  return seconds;
}

}  // namespace deuteron::backend
