// `landtrace ls`
#include <algorithm>

#include "cli/failure.hpp"
#include "cli/text_output.hpp"
#include "cli/tree_command.hpp"

namespace landtrace::cli {
namespace {

using Entry = ipc::TreeClient::Entry;

std::string mode_text(const Entry& entry) {
  std::string text(entry.is_folder() ? "d" : "-");
  for (int i = 8; i >= 0; --i) text += (entry.mode >> i & 1) != 0 ? "xwr"[i % 3] : '-';
  return text;
}

Result<std::vector<Entry>> entries_of(ipc::TreeClient& tree, const std::string& path) {
  LT_TRY(Entry self, tree.stat(path));
  if (!self.is_folder()) return std::vector<Entry>{std::move(self)};
  LT_TRY(auto entries, tree.list(path));
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.name < b.name; });
  return entries;
}

int ls(const std::string& socket, const std::string& path, bool with_modes) {
  TextOutput out;
  const int status = with_tree(socket, [&](ipc::TreeClient& tree) -> Result<void> {
    const auto entries = entries_of(tree, path);
    if (!entries) return about(tree, path.empty() ? "/" : path, entries.error());
    for (const Entry& entry : *entries) out.text() += (with_modes ? mode_text(entry) + ' ' : "") + entry.name + '\n';
    return {};
  });
  out.flush();
  return status != kSuccess ? status : out.status();
}

}  // namespace

void add_ls(Program& program) {
  Command& command = program.add("ls", "List files of a running domain");
  const auto socket = add_socket_option(command);
  auto path = std::make_shared<std::string>();
  auto with_modes = std::make_shared<bool>(false);
  command.option("FOLDER", *path, "From the root of the tree; without it, the root");
  command.flag("-l", *with_modes, "Print the files' modes, too");
  command.examples(
      "Examples:\n"
      "  landtrace ls events/user_events                 the registered events\n"
      "  landtrace ls -l                                 all files, with their modes");
  command.runs([socket, path, with_modes] { return ls(*socket, *path, *with_modes); });
}

}  // namespace landtrace::cli
