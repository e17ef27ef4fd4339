// `landtrace write`
#include <fcntl.h>
#include <unistd.h>

#include "cli/failure.hpp"
#include "cli/tree_command.hpp"

namespace landtrace::cli {
namespace {

struct WriteOptions {
  bool append = false;
  bool no_newline = false;
  std::vector<std::string> words;  // FILE [TEXT...]
};

// Whole lines, as far as there are any: what a pipe gives at a time may end in the middle of one.
Result<void> write_input(ipc::TreeClient& tree) {
  char bytes[64 * 1024];
  std::string text;
  for (;;) {
    const ssize_t n = ::read(STDIN_FILENO, bytes, sizeof bytes);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return fail_errno("standard input");
    if (n == 0) return text.empty() ? Result<void>() : tree.write(text);
    text.append(bytes, static_cast<std::size_t>(n));
    const std::size_t end = text.rfind('\n');
    if (end == std::string::npos && text.size() < sizeof bytes) continue;
    const std::size_t whole = end == std::string::npos ? text.size() : end + 1;
    LT_CHECK(tree.write(std::string_view(text).substr(0, whole)));
    text.erase(0, whole);
  }
}

// `words` as echo would say them; standard input where there are none.
Result<void> write(ipc::TreeClient& tree, const WriteOptions& options, const std::string& path,
                   const std::vector<std::string>& words) {
  LT_CHECK(tree.open(path, O_WRONLY | (options.append ? O_APPEND : O_TRUNC)));
  if (words.empty()) return write_input(tree);
  std::string text;
  for (const std::string& word : words) text.append(text.empty() ? "" : " ").append(word);
  if (!options.no_newline) text += '\n';
  return tree.write(text);
}

int write(const std::string& socket, const WriteOptions& options) {
  const std::string& path = options.words.front();
  const std::vector<std::string> words(options.words.begin() + 1, options.words.end());
  return with_tree(socket, [&](ipc::TreeClient& tree) -> Result<void> {
    if (auto written = write(tree, options, path, words); !written) return about(tree, path, written.error());
    return {};
  });
}

}  // namespace

void add_write(Program& program) {
  Command& command = program.add("write", "Write to a file of a running domain");
  const auto socket = add_socket_option(command);
  auto options = std::make_shared<WriteOptions>();
  command.flag("-a,--append", options->append, "Do not truncate the file first");
  command.flag("-n", options->no_newline, "No newline behind TEXT");
  // Taken like a command and not as words, so that a TEXT may begin with a dash.
  command.takes_command(options->words, "landtrace write [OPTIONS] [--] FILE [TEXT...]", "no file to write to");
  command.examples(
      "Examples:\n"
      "  landtrace write events/user_events/enable 1     as echo 1 > events/user_events/enable\n"
      "  landtrace write -a set_event 'user_events:job'  as echo user_events:job >> set_event\n"
      "  landtrace write dynamic_events < definitions    as cat definitions > dynamic_events");
  command.runs([socket, options] { return write(*socket, *options); });
}

}  // namespace landtrace::cli
