/// \file
/// The files of device/ as text, for generated sources; made from them by the build.
#pragma once

namespace deuteron::backend::cutlass {

const char* CallCode();
const char* EpilogueCode();
const char* ProductCode();
const char* ConvolutionCode();
const char* DecodeCode();
const char* AttentionCode();
const char* NormCode();

}  // namespace deuteron::backend::cutlass
