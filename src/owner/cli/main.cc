// The landtrace program.
#include <unistd.h>

#include "cli/command_line.hpp"
#include "cli/failure.hpp"

namespace {

using namespace landtrace::cli;

int parse_and_run(int argc, const char* const* argv) {
  Invocation invocation;
  invocation.line = split_command_line(argc, argv);
  CLI::App app("Records and prints trace events of user-space programs.", "landtrace");
  app.set_version_flag("--version", "landtrace " LANDTRACE_VERSION);
  app.require_subcommand(1);
  add_record(app, invocation);
  add_report(app, invocation);
  add_list(app, invocation);
  add_hist(app, invocation);
  add_latency(app, invocation);
  add_run(app, invocation);
  add_cat(app, invocation);
  add_write(app, invocation);
  add_ls(app, invocation);
  add_mkdir(app, invocation);
  add_rmdir(app, invocation);
  add_mount(app, invocation);
  add_umount(app, invocation);
  add_doctor(app, invocation);
  std::vector<std::string> words(invocation.line.own.rbegin(), invocation.line.own.rend());
  try {
    app.parse(words);
  } catch (const CLI::Success& help) {
    return app.exit(help);
  } catch (const CLI::ParseError& error) {
    return fail_with(kBadUse, one_line(error.what()) + " (see landtrace --help)");
  }
  return invocation.run();
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return parse_and_run(argc, argv);
  } catch (const std::exception& error) {
    return fail_with(kFailure, error.what());
  }
}
