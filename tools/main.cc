/// \file
/// The command `deuteron`.
///
/// Results go to standard output, everything else to standard error. Exit status: 0; 1 internal error; 2 usage;
/// 3 a missing or malformed model or text; 4 valid but not supported; 5 results differ.
#include <CLI/CLI.hpp>

#include <cstdio>
#include <exception>

#include "deuteron/support/error.h"
#include "tools/commands.h"
#include "tools/opt_command.h"

int main(int argc, char** argv) {
  CLI::App app{"Deuteron: an operator-fusion tensor compiler"};
  app.require_subcommand(1);
  deuteron::tools::AddRunCommand(app);
  deuteron::tools::AddBenchCommand(app);
  deuteron::tools::AddCompileCommand(app);
  deuteron::tools::AddOptCommand(app);
  deuteron::tools::AddVerifyCommand(app);
  deuteron::tools::AddInspectCommand(app);
  try {
    app.parse(argc, argv);
    return 0;
  } catch (const CLI::ParseError& error) {
    const int status = app.exit(error, std::cout, std::cerr);
    return status == 0 ? 0 : 2;
  } catch (const tvm::ffi::Error& error) {
    const int status = deuteron::ExitStatus(error.kind());
    std::fprintf(stderr, "deuteron: %s%s\n", status == 1 ? "internal error: " : "", std::string(error.message()).c_str());
    if (status == 1) std::fprintf(stderr, "%s", std::string(error.backtrace()).c_str());
    return status;
  } catch (const std::bad_alloc&) {
    std::fprintf(stderr, "deuteron: out of memory\n");
    return 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "deuteron: internal error: %s\n", error.what());
    return 1;
  }
}
