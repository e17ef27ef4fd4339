// `landtrace mkdir` and `landtrace rmdir`
#include "cli/failure.hpp"
#include "cli/tree_command.hpp"

namespace landtrace::cli {
namespace {

using Change = Result<void> (ipc::TreeClient::*)(const std::string&);

int change(const std::string& socket, const std::vector<std::string>& paths, Change one) {
  return with_tree(socket, [&](ipc::TreeClient& tree) -> Result<void> {
    for (const std::string& path : paths) {
      if (auto changed = (tree.*one)(path); !changed) return about(tree, path, changed.error());
    }
    return {};
  });
}

void add(Program& program, const char* name, const char* what, Change one, const char* examples) {
  Command& command = program.add(name, what);
  const auto socket = add_socket_option(command);
  auto paths = std::make_shared<std::vector<std::string>>();
  command.words("FOLDER", *paths, "instances/NAME", {.required = true});
  command.examples(examples);
  command.runs([socket, paths, one] { return change(*socket, *paths, one); });
}

}  // namespace

void add_mkdir(Program& program) {
  add(program, "mkdir", "Make instances in a running domain", &ipc::TreeClient::make_folder,
      "Examples:\n"
      "  landtrace mkdir instances/mine                  buffers and enabled events of its own");
}

void add_rmdir(Program& program) {
  add(program, "rmdir", "Remove instances from a running domain", &ipc::TreeClient::remove_folder,
      "Examples:\n"
      "  landtrace rmdir instances/mine                  and what it has recorded");
}

}  // namespace landtrace::cli
