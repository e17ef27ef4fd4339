// The virtual file tree over a domain: what a mounted tracefs shows.
#pragma once

#include "tracefs/context.hpp"
#include "tracefs/list_folder.hpp"

namespace landtrace::tracefs {

class Tree {
 public:
  // The domain and its rules outlive the tree, and the tree outlives its nodes and open files.
  Tree(domain::Domain& domain, rules::Rules& rules);

  [[nodiscard]] std::shared_ptr<Folder> root() { return root_; }
  // "events/user_events/e1/enable"; "" is the root. ENOENT, ENOTDIR.
  Result<std::shared_ptr<Node>> find(std::string_view path);
  [[nodiscard]] Context& context() { return context_; }

 private:
  Context context_;
  std::shared_ptr<ListFolder> root_;
};

// Calls `enter` with each folder on the way, beginning with `from`. An error that it returns ends the walk.
template <typename Enter>
Result<std::shared_ptr<Node>> walk(std::shared_ptr<Node> from, std::string_view path, Enter enter) {
  while (!path.empty()) {
    const auto slash = path.find('/');
    const std::string_view name = path.substr(0, slash);
    path = slash == std::string_view::npos ? std::string_view() : path.substr(slash + 1);
    if (from->folder() == nullptr) return fail(ENOTDIR, "not a folder");
    LT_CHECK(enter(*from));
    if (name.empty() || name == ".") continue;
    LT_TRY(from, from->folder()->find(name));
  }
  return from;
}

}  // namespace landtrace::tracefs
