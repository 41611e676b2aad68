#include "deuteron/ir/transform/instruments.h"

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <ostream>

#include "deuteron/support/number_text.h"

namespace deuteron::transform {

void TimingInstrument::RunBeforePass(const IRModule& module, const PassInfo& info) {
  rows_.push_back({info.name, static_cast<int>(open_.size()), 0});
  open_.emplace_back(rows_.size() - 1, std::chrono::steady_clock::now());
}

void TimingInstrument::RunAfterPass(const IRModule& module, const PassInfo& info) {
  // A pass that threw never came here: drop what it left open.
  while (!open_.empty() && rows_[open_.back().first].name != info.name) open_.pop_back();
  if (open_.empty()) return;
  const auto [row, start] = open_.back();
  open_.pop_back();
  rows_[row].milliseconds = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

std::string TimingInstrument::Table() const {
  double total = 0;
  for (const Row& row : rows_) total += row.depth == 0 ? row.milliseconds : 0;
  std::string table = "      ms   share  pass\n";
  for (const Row& row : rows_) {
    const double share = total > 0 ? 100 * row.milliseconds / total : 0;
    table += NumberText(row.milliseconds, "%8.2f  ") + NumberText(share, "%5.1f%%  ") +
             std::string(2 * static_cast<size_t>(row.depth), ' ') + row.name + "\n";
  }
  return table;
}

Pass PrintIR(ModulePrinter print, std::ostream* out, std::string header) {
  return ModulePass({.name = "PrintIR"}, [print, out, header](IRModule module, const PassContext&) {
    if (!header.empty()) *out << "# ----- " << header << "\n";
    *out << print(module);
    out->flush();
    return module;
  });
}

PrintInstrument::PrintInstrument(Options options, ModulePrinter print, std::ostream* out)
    : options_(std::move(options)), print_(std::move(print)), out_(out) {}

void PrintInstrument::RunBeforePass(const IRModule& module, const PassInfo& info) {
  if (options_.before.count(info.name) || (options_.before_all && !info.is_sequence)) Print("before", module, info);
}
void PrintInstrument::RunAfterPass(const IRModule& module, const PassInfo& info) {
  if (options_.after.count(info.name) || (options_.after_all && !info.is_sequence)) Print("after", module, info);
}
void PrintInstrument::Print(const char* when, const IRModule& module, const PassInfo& info) {
  *out_ << "# ----- " << when << " " << info.name << "\n" << print_(module) << "\n";
  out_->flush();
}

DumpInstrument::DumpInstrument(std::string directory, ModulePrinter print)
    : directory_(std::move(directory)), print_(std::move(print)) {
  std::error_code error;
  std::filesystem::create_directories(directory_, error);
  if (error) DEUTERON_THROW(UsageError) << "cannot make the folder " << directory_ << ": " << error.message();
}

void DumpInstrument::RunBeforePass(const IRModule& module, const PassInfo& info) {
  if (number_ == 0) Write(module, "input");
}
void DumpInstrument::RunAfterPass(const IRModule& module, const PassInfo& info) {
  if (!module.same_as(last_)) Write(module, info.name);
}
void DumpInstrument::Write(const IRModule& module, const std::string& name) {
  char prefix[16];
  std::snprintf(prefix, sizeof(prefix), "%03d_", number_++);
  const std::string path = (std::filesystem::path(directory_) / (prefix + name + ".py")).string();
  std::ofstream file(path);
  file << print_(module);
  file.close();
  if (!file) DEUTERON_THROW(UsageError) << "cannot write " << path;
  last_ = module;
}

void VerifyInstrument::RunAfterPass(const IRModule& module, const PassInfo& info) {
  if (module.same_as(last_)) return;
  try {
    verify_(module);
  } catch (const ffi::Error& error) {
    DEUTERON_THROW(InternalError) << "the module is malformed after pass " << info.name << ": " << error.message();
  }
  last_ = module;
}

bool BisectInstrument::ShouldRun(const IRModule& module, const PassInfo& info) {
  if (info.is_sequence) return true;
  names_.push_back(info.name);
  return count() <= limit_;
}

std::string BisectInstrument::Report() const {
  std::string report;
  char line[64];
  for (size_t i = 0; i < names_.size(); ++i) {
    std::snprintf(line, sizeof(line), "bisect: %3zu %s ", i + 1,
                  static_cast<int64_t>(i) < limit_ ? "ran    " : "skipped");
    report += line + names_[i] + "\n";
  }
  return report;
}

}  // namespace deuteron::transform
