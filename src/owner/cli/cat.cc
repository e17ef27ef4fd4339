// `landtrace cat`
#include <fcntl.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "cli/failure.hpp"
#include "cli/text_output.hpp"
#include "cli/tree_command.hpp"

namespace landtrace::cli {
namespace {

using std::chrono::milliseconds;

// How long to wait before asking again after an empty answer: a program that writes an event notifies nobody.
constexpr milliseconds kShortest(1), kLongest(50);

// Copies up to the end of the file. Some files have no end (trace_pipe).
Result<void> copy(ipc::TreeClient& tree, const std::string& path, TextOutput& out) {
  if (auto opened = tree.open(path, O_RDONLY); !opened) return about(tree, path, opened.error());
  milliseconds patience = kShortest;
  for (;;) {
    const auto bytes = tree.read();
    if (!bytes && bytes.error().code != EAGAIN) return about(path, bytes.error());
    if (bytes) {
      if (bytes->empty()) return {};
      out.text() += *bytes;
      patience = kShortest;
      if (!out.flush_if_full()) return {};
      continue;
    }
    if (!out.flush()) return {};
    std::this_thread::sleep_for(patience);
    patience = std::min(patience * 2, kLongest);
  }
}

int cat(const std::string& socket, const std::vector<std::string>& paths) {
  TextOutput out;
  const int status = with_tree(socket, [&](ipc::TreeClient& tree) -> Result<void> {
    for (const std::string& path : paths) LT_CHECK(copy(tree, path, out));
    return {};
  });
  out.flush();
  return status != kSuccess ? status : out.status();
}

}  // namespace

void add_cat(Program& program) {
  Command& command = program.add("cat", "Print files of a running domain");
  const auto socket = add_socket_option(command);
  auto paths = std::make_shared<std::vector<std::string>>();
  command.words("FILE", *paths, "From the root of the tree", {.required = true});
  command.examples(
      "Examples:\n"
      "  landtrace cat events/user_events/job/format     how an event looks\n"
      "  landtrace cat trace_pipe                        events as they come, until Ctrl-C");
  command.runs([socket, paths] { return cat(*socket, *paths); });
}

}  // namespace landtrace::cli
