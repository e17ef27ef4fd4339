// A folder whose entries are known when it is made.
#pragma once

#include <map>
#include <utility>

#include "tracefs/node.hpp"

namespace landtrace::tracefs {

class ListFolder : public Folder {
 public:
  template <typename T, typename... Args>
  std::shared_ptr<T> add(std::string name, Args&&... args) {
    auto node = std::make_shared<T>(std::forward<Args>(args)...);
    nodes_.insert_or_assign(std::move(name), node);
    return node;
  }
  void put(std::string name, std::shared_ptr<Node> node) { nodes_.insert_or_assign(std::move(name), std::move(node)); }

  Result<std::vector<Entry>> list() override {
    std::vector<Entry> entries;
    for (const auto& [name, node] : nodes_) entries.push_back({name, node->folder() != nullptr});
    return entries;
  }
  Result<std::shared_ptr<Node>> find(std::string_view name) override {
    const auto found = nodes_.find(name);
    if (found == nodes_.end()) return fail(ENOENT, "no such file");
    return found->second;
  }

 private:
  std::map<std::string, std::shared_ptr<Node>, std::less<>> nodes_;
};

}  // namespace landtrace::tracefs
