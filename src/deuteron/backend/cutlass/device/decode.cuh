// Weights that are kept in fewer bits, unpacked before the product that uses them.
namespace deuteron {
namespace {

// `decode(i, j)` is element (i, j) of the matrix.
template <typename Decode>
__global__ void DecodeKernel(Decode decode, cutlass::half_t* out, int64_t rows, int64_t columns) {
  const int64_t at = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (at < rows * columns) out[at] = decode(at / columns, at % columns);
}

template <typename Decode>
View DecodeWeights(Call& call, const Decode& decode, int64_t rows, int64_t columns) {
  const View out = call.Place(-1, {rows, columns}, sizeof(cutlass::half_t));
  constexpr int kThreads = 256;
  if (out.numel() == 0) return out;
  const int blocks = Int((out.numel() + kThreads - 1) / kThreads);
  DecodeKernel<<<blocks, kThreads, 0, call.stream()>>>(decode, out.as<cutlass::half_t>(), rows, columns);
  Check(cudaGetLastError(), "the launch of the unpacking");
  return out;
}

}  // namespace
}  // namespace deuteron
