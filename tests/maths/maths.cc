/// How far elementary functions of generated code are from the truth.
///
///     maths [FUNCTION]... [--count N] [--target TARGET] [--jobs N]
///
/// Functions of one float32 are computed of all 2^32 numbers, those of float64 and powers of 10^9 that are drawn from
/// all magnitudes, from small ones, and from around numbers of few digits, where tables and cases begin; with --count
/// all of N drawn numbers. The truth is C's function in float64, for float64 in long double. Printed are the greatest
/// error in units in the last place (of the exact result; beyond the greatest number, of that), where it is, the
/// function's bound, and the time of an element. Exits with 1 if a bound is exceeded, or an infinity or a NaN is not
/// where it should be.
#include <algorithm>
#include <atomic>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <functional>
#include <iostream>
#include <limits>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "deuteron/codegen/machine_code.h"
#include "deuteron/ir/prim_ops.h"
#include "deuteron/runtime/thread_pool.h"
#include "deuteron/support/error.h"
#include "deuteron/target/target.h"
#include "deuteron/tir/function.h"
#include "deuteron/tir/transform/lower.h"

namespace deuteron::maths {
namespace {

template <typename Real>
struct Function {
  const char* name;
  int arity;
  Real (*reference)(Real x, Real y);
  /// In units in the last place.
  double bound;
};

template <typename Real>
std::vector<Function<Real>> Functions(bool is_double) {
  const auto bound = [is_double](double of_float, double of_double) { return is_double ? of_double : of_float; };
  return {
      {"exp", 1, [](Real x, Real) { return std::exp(x); }, bound(1.1, 1.1)},
      {"exp2", 1, [](Real x, Real) { return std::exp2(x); }, bound(1.3, 1.3)},
      {"log", 1, [](Real x, Real) { return std::log(x); }, bound(1.6, 1.1)},
      {"log2", 1, [](Real x, Real) { return std::log2(x); }, bound(2.5, 2)},
      {"log10", 1, [](Real x, Real) { return std::log10(x); }, bound(2.5, 2)},
      {"tanh", 1, [](Real x, Real) { return std::tanh(x); }, bound(2.5, 2.5)},
      {"sigmoid", 1, [](Real x, Real) { return 1 / (1 + std::exp(-x)); }, bound(3, 3)},
      {"erf", 1, [](Real x, Real) { return std::erf(x); }, bound(2.5, 2.5)},
      {"sin", 1, [](Real x, Real) { return std::sin(x); }, bound(2.5, 2.5)},
      {"cos", 1, [](Real x, Real) { return std::cos(x); }, bound(2.5, 2.5)},
      {"tan", 1, [](Real x, Real) { return std::tan(x); }, bound(4, 4)},
      {"asin", 1, [](Real x, Real) { return std::asin(x); }, bound(2.5, 2.5)},
      {"acos", 1, [](Real x, Real) { return std::acos(x); }, bound(2, 2)},
      {"atan", 1, [](Real x, Real) { return std::atan(x); }, bound(2.5, 2.5)},
      {"sinh", 1, [](Real x, Real) { return std::sinh(x); }, bound(3, 3)},
      {"cosh", 1, [](Real x, Real) { return std::cosh(x); }, bound(3, 3)},
      {"asinh", 1, [](Real x, Real) { return std::asinh(x); }, bound(3, 3)},
      {"acosh", 1, [](Real x, Real) { return std::acosh(x); }, bound(3, 3)},
      {"atanh", 1, [](Real x, Real) { return std::atanh(x); }, bound(3, 3)},
      {"log1p", 1, [](Real x, Real) { return std::log1p(x); }, bound(3, 3)},
      {"rsqrt", 1, [](Real x, Real) { return 1 / std::sqrt(x); }, bound(1.6, 1.6)},
      {"pow", 2, [](Real x, Real y) { return std::pow(x, y); }, bound(1, 1.3)},
      {"fmod", 2, [](Real x, Real y) { return std::fmod(x, y); }, bound(0.5, 0.5)},
  };
}

/// Numbers in a kernel's vector of arguments.
constexpr int64_t kBlock = 4096;

/// out[i] = name(in0[i], ...), in vectors of the target.
tir::PrimFunc Pointwise(const char* name, DataType dtype, int arity, const Target& target) {
  const int64_t lanes = std::max<int64_t>(target.machine.Lanes(dtype.bits()), 1);
  const tir::Var outer("o");
  const tir::Var inner("i");
  const PrimExpr index = outer * lanes + inner;
  Array<tir::Buffer> buffers;
  Array<PrimExpr> arguments;
  for (int k = 0; k < arity; ++k) {
    buffers.push_back(tir::Buffer("in" + std::to_string(k), dtype, {MakeConst(DataType::Int(64), kBlock)}));
    arguments.push_back(tir::BufferLoad(buffers.back(), {index}));
  }
  buffers.push_back(tir::Buffer("out", dtype, {MakeConst(DataType::Int(64), kBlock)}));
  const auto constant = [](int64_t value) { return MakeConst(DataType::Int(64), value); };
  tir::Stmt body = tir::BufferStore(buffers.back(), CallIntrin(name, arguments), {index});
  body = tir::For(inner, constant(0), constant(lanes), tir::ForKind::kVectorized, body);
  body = tir::For(outer, constant(0), constant(kBlock / lanes), tir::ForKind::kSerial, body);
  return tir::PrimFunc::FromBuffers(buffers, {}, body, DictAttrs(Map<String, Any>{{"tirx.noalias", true}}));
}

uint64_t Mix(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ULL;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBULL;
  return x ^ (x >> 31);
}

/// The i-th number that is drawn.
template <typename T>
T Draw(uint64_t i) {
  using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
  const T special[] = {0,
                       1,
                       2,
                       T{0.5},
                       std::numeric_limits<T>::infinity(),
                       std::numeric_limits<T>::quiet_NaN(),
                       std::numeric_limits<T>::max(),
                       std::numeric_limits<T>::min(),
                       std::numeric_limits<T>::denorm_min(),
                       std::numeric_limits<T>::min() - std::numeric_limits<T>::denorm_min()};
  const uint64_t random = Mix(i * 0x9E3779B97F4A7C15ULL);
  const T sign = (random & 1) != 0 ? T{-1} : T{1};
  if (i < 2 * std::size(special)) return i % 2 == 0 ? special[i / 2] : -special[i / 2];
  const auto spread = static_cast<T>(random >> 11) * T{0x1p-53};
  switch (i % 4) {
    case 0: {  // every magnitude, denormal ones too
      const T any = std::bit_cast<T>(static_cast<Bits>(random));
      return std::isnan(any) ? std::numeric_limits<T>::quiet_NaN() : any;
    }
    case 1:  // evenly within [-2^k, 2^k]
      return sign * std::ldexp(spread, static_cast<int>(i / 4 % 11));
    case 2:  // around 1
      return 1 + sign * std::ldexp(spread, -1 - static_cast<int>(i / 4 % 24));
    default: {  // a few steps from a number of six binary digits
      const T few = std::ldexp(static_cast<T>(32 + (random >> 8) % 32), static_cast<int>((random >> 16) % 20) - 14);
      return sign * std::bit_cast<T>(static_cast<Bits>(std::bit_cast<Bits>(few) + (random >> 32) % 9 - 4));
    }
  }
}

/// Exponents of powers: integers and halves as often as others.
template <typename T>
T DrawExponent(uint64_t i) {
  const T value = Draw<T>(Mix(i) % (uint64_t{1} << 40));
  return i % 3 == 0 ? std::nearbyint(value * 2) / 2 : value;
}

/// What a unit in the last place of a number of type T next to `exact` is.
template <typename T, typename Real>
Real Unit(Real exact) {
  using Limits = std::numeric_limits<T>;
  const Real magnitude = std::min<Real>(std::fabs(exact), Limits::max());
  const int exponent = magnitude == 0 ? Limits::min_exponent : std::ilogb(magnitude);
  return std::ldexp(Real{1}, std::max(exponent, Limits::min_exponent - 1) - (Limits::digits - 1));
}

struct Worst {
  double ulp = 0;
  double x = 0;
  double y = 0;
  double got = 0;
  double exact = 0;
};

/// In units in the last place, 0.5 of all that is nearest to what is exact; infinite if an infinity or NaN is not where
/// it should be.
template <typename T, typename Real>
double Error(T got, Real exact) {
  const auto rounded = static_cast<T>(exact);
  if (std::isnan(rounded) || std::isnan(got)) {
    return std::isnan(rounded) && std::isnan(got) ? 0 : std::numeric_limits<double>::infinity();
  }
  if (got == rounded) return std::isinf(got) || got == 0 ? 0 : 0.5;  // rounded as well as can be
  if (std::isinf(exact)) return std::numeric_limits<double>::infinity();
  // An infinity counts as the number after the greatest.
  const Real value =
      std::isinf(got) ? std::copysign(std::ldexp(Real{1}, std::numeric_limits<T>::max_exponent), Real{got}) : Real{got};
  return static_cast<double>(std::fabs(value - exact) / Unit<T>(exact));
}

/// Memory of a kernel's arguments.
template <typename T>
struct Arguments {
  explicit Arguments(int arity) {
    for (int k = 0; k < arity; ++k) data.push_back(buffers[k].values);
    data.push_back(buffers[2].values);
  }
  T* x() { return buffers[0].values; }
  T* y() { return buffers[1].values; }
  T* out() { return buffers[2].values; }

  struct alignas(64) Buffer {
    T values[kBlock];
  };
  std::unique_ptr<Buffer[]> buffers = std::make_unique<Buffer[]>(3);
  std::vector<void*> data;
};

/// Nanoseconds an element of ordinary numbers, the least of many runs.
template <typename T>
double Time(DeuteronKernel kernel, int arity) {
  Arguments<T> arguments(arity);
  for (int64_t i = 0; i < kBlock; ++i) {
    arguments.x()[i] = static_cast<T>(0.5 + 4.0 * static_cast<double>(Mix(static_cast<uint64_t>(i)) >> 11) * 0x1p-53);
    arguments.y()[i] = static_cast<T>(1.7);
  }
  double best = std::numeric_limits<double>::infinity();
  for (int run = 0; run < 300; ++run) {
    const auto start = std::chrono::steady_clock::now();
    kernel(nullptr, arguments.data.data(), nullptr);
    const std::chrono::duration<double, std::nano> time = std::chrono::steady_clock::now() - start;
    best = std::min(best, time.count() / static_cast<double>(kBlock));
  }
  return best;
}

template <typename T, typename Real>
bool Check(const Function<Real>& function, uint64_t count, const Target& target, int jobs) {
  const DataType dtype = DataType::Float(sizeof(T) * 8);
  const bool all = sizeof(T) == 4 && function.arity == 1 && count == 0;
  const uint64_t numbers = all ? uint64_t{1} << 32 : count == 0 ? 1'000'000'000 : count;
  IRModule module = IRModule::Empty();
  module.AddUnique("kernel", tir::LowerPrimFunc(Pointwise(function.name, dtype, function.arity, target), target));
  const codegen::CompiledKernels kernels = codegen::CompileInMemory(module, target, {});
  const DeuteronKernel kernel = kernels.Lookup("kernel");
  const double nanoseconds = Time<T>(kernel, function.arity);

  Worst worst;
  std::mutex mutex;
  std::atomic<uint64_t> next{0};
  const auto work = [&] {
    Arguments<T> arguments(function.arity);
    T* const x = arguments.x();
    T* const y = arguments.y();
    const T* const out = arguments.out();
    Worst mine;
    for (uint64_t begin = next.fetch_add(kBlock); begin < numbers; begin = next.fetch_add(kBlock)) {
      for (uint64_t i = 0; i < kBlock; ++i) {
        if (all) {
          const auto bits = static_cast<uint32_t>(begin + i);
          std::memcpy(&x[i], &bits, sizeof(T));
          continue;
        }
        x[i] = Draw<T>(begin + i);
        y[i] = DrawExponent<T>(begin + i);
      }
      kernel(nullptr, arguments.data.data(), nullptr);
      for (uint64_t i = 0; i < kBlock; ++i) {
        const Real exact = function.reference(x[i], y[i]);
        const double ulp = Error<T>(out[i], exact);
        if (ulp > mine.ulp) mine = {ulp, x[i], y[i], out[i], static_cast<double>(exact)};
      }
    }
    const std::lock_guard<std::mutex> lock(mutex);
    if (mine.ulp > worst.ulp) worst = mine;
  };
  std::vector<std::thread> threads;
  for (int i = 1; i < jobs; ++i) threads.emplace_back(work);
  work();
  for (std::thread& thread : threads) thread.join();

  const bool good = worst.ulp <= function.bound;
  std::printf("%-8s float%zu  %6.3f ulp, bound %.1f  %7.3f ns  %s", function.name, sizeof(T) * 8, worst.ulp,
              function.bound, nanoseconds, good ? "at " : "WRONG at ");
  std::printf(function.arity == 2 ? "%.17g ^ %.17g" : "%.17g", worst.x, worst.y);
  std::printf(": %.17g, exactly %.17g\n", worst.got, worst.exact);
  std::fflush(stdout);
  return good;
}

int Main(const std::vector<std::string>& arguments) {
  std::vector<std::string> names;
  uint64_t count = 0;
  int jobs = static_cast<int>(runtime::UsableThreads());
  Target target = Target::Host();
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    if (argument.rfind("--", 0) != 0) {
      names.push_back(argument);
      continue;
    }
    if (++i == arguments.size()) {
      std::cerr << argument << " needs a value\n";
      return 2;
    }
    if (argument == "--count") {
      count = std::stoull(arguments[i]);
    } else if (argument == "--jobs") {
      jobs = std::stoi(arguments[i]);
    } else if (argument == "--target") {
      target = Target::Parse(arguments[i]);
    } else {
      std::cerr << "unknown option " << argument << "\n";
      return 2;
    }
  }
  bool good = true;
  size_t checked = 0;
  const auto check = [&]<typename T, typename Real>(T, Real) {
    for (const Function<Real>& function : Functions<Real>(sizeof(T) == 8)) {
      if (!names.empty() && std::find(names.begin(), names.end(), function.name) == names.end()) continue;
      good &= Check<T>(function, count, target, jobs);
      ++checked;
    }
  };
  check(float{}, double{});
  using Wide = long double;
  check(double{}, Wide{});
  if (checked == 0) {
    std::cerr << "there is no such function; there are:";
    for (const auto& function : Functions<double>(false)) std::cerr << " " << function.name;
    std::cerr << "\n";
    return 2;
  }
  return good ? 0 : 1;
}

}  // namespace
}  // namespace deuteron::maths

int main(int argc, char** argv) { return deuteron::maths::Main({argv + 1, argv + argc}); }
