#include "cli/tree_command.hpp"

#include "cli/domain_choice.hpp"
#include "cli/failure.hpp"

namespace landtrace::cli {

std::shared_ptr<std::string> add_socket_option(Command& command) {
  auto socket = std::make_shared<std::string>();
  command.option("--socket", *socket, "Socket of the domain; without it, the user's", {.type = "PATH"});
  return socket;
}

Result<ipc::TreeClient> connect_to_tree(const std::string& socket) {
  const std::string path = domain_to_speak_to(socket);
  auto tree = ipc::TreeClient::connect(path);
  if (tree) return tree;
  const int code = tree.error().code;
  if (code != ENOENT && code != ECONNREFUSED) return tree;
  return fail(code, "no domain runs at " + path + "; `landtrace record` without a command starts one");
}

int with_tree(const std::string& socket, const std::function<Result<void>(ipc::TreeClient&)>& work) {
  auto tree = connect_to_tree(socket);
  if (!tree) return fail_with(kFailure, sentence(tree.error()));
  const auto done = work(*tree);
  return done ? kSuccess : fail_with(kFailure, sentence(done.error()));
}

tl::unexpected<Error> about(const std::string& path, const Error& error) {
  // The errno's text first, which scripts look for, then our own sentence.
  const std::string reason = errno_text(error.code);
  const bool says_more = !error.message.empty() && error.message != reason;
  return fail(error.code, path + ": " + reason + (says_more ? " (" + error.message + ")" : ""));
}

}  // namespace landtrace::cli
