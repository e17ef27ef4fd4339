#include "cli/tree_command.hpp"

#include "cli/domain_choice.hpp"
#include "cli/failure.hpp"
#include "cli/near_names.hpp"

namespace landtrace::cli {

std::shared_ptr<std::string> add_socket_option(Command& command) {
  auto socket = std::make_shared<std::string>();
  command.option("--socket", *socket, "Socket of the domain; without it, the user's", {.type = "PATH"});
  return socket;
}

Result<ipc::TreeClient> connect_to_tree(const std::string& socket) {
  auto tree = ipc::TreeClient::connect(domain_to_speak_to(socket));
  return tree ? std::move(tree) : unreached(std::move(tree).error());
}

int with_tree(const std::string& socket, const std::function<Result<void>(ipc::TreeClient&)>& work) {
  auto tree = connect_to_tree(socket);
  if (!tree) return fail_with(kFailure, sentence(tree.error()));
  const auto done = work(*tree);
  return done ? kSuccess : fail_with(kFailure, sentence(done.error()));
}

std::string alike_in_tree(ipc::TreeClient& tree, const std::string& path) {
  // Down to the first part that is not there.
  std::string folder;
  for (std::string_view rest = path; !rest.empty();) {
    const std::string part(rest.substr(0, rest.find('/')));
    rest.remove_prefix(std::min(part.size() + 1, rest.size()));
    if (part.empty()) continue;
    const std::string here = folder.empty() ? part : folder + "/" + part;
    if (tree.stat(here)) {
      folder = here;
      continue;
    }
    const auto entries = tree.list(folder);
    std::vector<std::string> names;
    for (std::size_t i = 0; entries && i < entries->size(); ++i) names.push_back((*entries)[i].name);
    std::vector<std::string> meant = near_names(part, names);
    for (std::string& name : meant) name = folder.empty() ? name : folder + "/" + name;
    return meant.empty() ? "" : fmt::format("; did you mean {}?", alternatives(meant));
  }
  return "";
}

tl::unexpected<Error> about(ipc::TreeClient& tree, const std::string& path, const Error& error) {
  auto named = about(path, error);
  if (error.code != ENOENT) return named;
  return fail(ENOENT, named.value().message + alike_in_tree(tree, path));
}

tl::unexpected<Error> about(const std::string& path, const Error& error) {
  // The errno's text first, which scripts look for, then our own sentence.
  const std::string reason = errno_text(error.code);
  const bool says_more = !error.message.empty() && error.message != reason;
  return fail(error.code, path + ": " + reason + (says_more ? " (" + error.message + ")" : ""));
}

}  // namespace landtrace::cli
