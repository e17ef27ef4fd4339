// The landtrace program.
#include <exception>

#include "cli/commands.hpp"
#include "cli/failure.hpp"
#include "cli/signals.hpp"

namespace {

using namespace landtrace::cli;

int parse_and_run(int argc, const char* const* argv) {
  Program program("landtrace", "Records and prints trace events of user-space programs.", LANDTRACE_VERSION);
  // In the order of the help.
  add_record(program);
  add_report(program);
  add_tail(program);
  add_export(program);
  add_view(program);
  add_ui(program);
  add_list(program);
  add_functions(program);
  add_attach(program);
  add_recover(program);
  add_hist(program);
  add_latency(program);
  add_top_functions(program);
  add_top(program);
  add_flame(program);
  add_run(program);
  add_bpf(program);
  add_cat(program);
  add_write(program);
  add_ls(program);
  add_mkdir(program);
  add_rmdir(program);
  add_mount(program);
  add_umount(program);
  add_fleet(program);
  add_collect(program);
  add_domain(program);
  add_doctor(program);
  return program.run(argc, argv);
}

}  // namespace

int main(int argc, char** argv) {
  survive_file_limit();
  try {
    return parse_and_run(argc, argv);
  } catch (const std::exception& error) {
    return fail_with(kFailure, error.what());
  }
}
