// The words of the command line: the program's own, and those of a CMD that it is to run.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

namespace landtrace::cli {

struct CommandLine {
  std::vector<std::string> own;  // up to the first "--"
  bool has_separator = false;
  std::vector<std::string> rest;  // behind it
};
CommandLine split_command_line(int argc, const char* const* argv);

// What the parser has found.
struct Invocation {
  CommandLine line;
  std::function<int()> run;  // the subcommand that was named; returns the exit status
};

// CMD with its arguments: what stands behind "--", or begins with the first word that is no option. Throws
// CLI::ExtrasError for an unknown option. `subcommand` must have prefix_command().
std::vector<std::string> take_command(const CLI::App& subcommand, const CommandLine& line);

// For subcommands that run none: throws CLI::ExtrasError when there is something.
void expect_no_command(const CommandLine& line);

// The first line of the subcommand's help, where the parser would not know what it takes.
void set_usage(CLI::App& subcommand, const std::string& usage);

void add_record(CLI::App& app, Invocation& invocation);
void add_report(CLI::App& app, Invocation& invocation);
void add_list(CLI::App& app, Invocation& invocation);
void add_hist(CLI::App& app, Invocation& invocation);
void add_latency(CLI::App& app, Invocation& invocation);
void add_run(CLI::App& app, Invocation& invocation);
void add_cat(CLI::App& app, Invocation& invocation);
void add_write(CLI::App& app, Invocation& invocation);
void add_ls(CLI::App& app, Invocation& invocation);
void add_mkdir(CLI::App& app, Invocation& invocation);
void add_rmdir(CLI::App& app, Invocation& invocation);
void add_mount(CLI::App& app, Invocation& invocation);
void add_umount(CLI::App& app, Invocation& invocation);
void add_doctor(CLI::App& app, Invocation& invocation);

}  // namespace landtrace::cli
