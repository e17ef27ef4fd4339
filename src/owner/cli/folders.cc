// `landtrace mkdir` and `landtrace rmdir`
#include "cli/failure.hpp"
#include "cli/tree_command.hpp"

namespace landtrace::cli {
namespace {

using Change = Result<void> (consumer::RemoteTree::*)(const std::string&);

int change(const std::string& socket, const std::vector<std::string>& paths, Change one) {
  return with_tree(socket, [&](consumer::RemoteTree& tree) -> Result<void> {
    for (const std::string& path : paths) {
      if (auto changed = (tree.*one)(path); !changed) return about(path, changed.error());
    }
    return {};
  });
}

void add(CLI::App& app, Invocation& invocation, const char* name, const char* what, Change one, const char* examples) {
  CLI::App* const sub = app.add_subcommand(name, what);
  const auto socket = add_socket_option(*sub);
  auto paths = std::make_shared<std::vector<std::string>>();
  sub->add_option("FOLDER", *paths, "instances/NAME")->required();
  sub->footer(examples);
  sub->callback([socket, paths, one, &invocation] {
    expect_no_command(invocation.line);
    invocation.run = [socket, paths, one] { return change(*socket, *paths, one); };
  });
}

}  // namespace

void add_mkdir(CLI::App& app, Invocation& invocation) {
  add(app, invocation, "mkdir", "Make instances in a running domain", &consumer::RemoteTree::make_folder,
      "Examples:\n"
      "  landtrace mkdir instances/mine                  buffers and enabled events of its own");
}

void add_rmdir(CLI::App& app, Invocation& invocation) {
  add(app, invocation, "rmdir", "Remove instances from a running domain", &consumer::RemoteTree::remove_folder,
      "Examples:\n"
      "  landtrace rmdir instances/mine                  and what it has recorded");
}

}  // namespace landtrace::cli
