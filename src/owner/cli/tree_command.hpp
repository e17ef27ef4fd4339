// What the commands about the file tree have in common: cat, write, ls, mkdir, rmdir.
#pragma once

#include <memory>

#include "cli/commands.hpp"
#include "ipc/tree_client.hpp"

namespace landtrace::cli {

// Adds --socket; the string is the domain's socket when the command runs, or empty.
std::shared_ptr<std::string> add_socket_option(Command& command);

// The tree of the domain at `socket`, or of the user's. The error says how to start one.
Result<ipc::TreeClient> connect_to_tree(const std::string& socket);

// Does `work` with the tree. Returns the exit status, after a message if it failed.
int with_tree(const std::string& socket, const std::function<Result<void>(ipc::TreeClient&)>& work);

// Where there is no such file: those beside it that are called alike. "; did you mean events/user_events/job?", or "".
std::string alike_in_tree(ipc::TreeClient& tree, const std::string& path);

// An error that names the path; with the tree, also what may have been meant.
tl::unexpected<Error> about(ipc::TreeClient& tree, const std::string& path, const Error& error);
tl::unexpected<Error> about(const std::string& path, const Error& error);

}  // namespace landtrace::cli
