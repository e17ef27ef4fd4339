#include "host/tree_requests.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>

namespace landtrace::host {
namespace {

using ipc::Operation;
using ipc::Request;
using tracefs::Node;
using NodePtr = std::shared_ptr<Node>;

constexpr std::size_t kMostLastWords = 1024;

enum Access : unsigned { kRead = 4, kWrite = 2, kEnter = 1 };

struct TreeRequest {
  tracefs::Tree& tree;
  Connection& connection;
  const tracefs::Caller& caller;
  const Request& request;
  std::string_view text;

  // Files belong to the user who runs the domain, and to its group.
  [[nodiscard]] Result<void> check(const Node& node, unsigned wanted) const {
    if (!tree.context().domain.registrar().is_guest(caller.who.uid)) return {};
    const unsigned granted = node.mode() >> (connection.in_group ? 3 : 0) & 7;
    if ((granted & wanted) != wanted) return fail(EACCES, "the file's mode does not allow it");
    return {};
  }
  [[nodiscard]] Result<NodePtr> find(std::string_view path) const {
    return tracefs::walk(tree.root(), path, [&](const Node& folder) { return check(folder, kEnter); });
  }
};

unsigned mode_of(Node& node) { return node.mode() | (node.folder() != nullptr ? S_IFDIR : S_IFREG); }

Result<Response> stat(const TreeRequest& r) {
  LT_TRY(const NodePtr node, r.find(r.text));
  Response response;
  response.reply.a = mode_of(*node);
  response.reply.b = node->file() != nullptr ? node->file()->size() : 0;
  return response;
}

Result<Response> list(const TreeRequest& r) {
  LT_TRY(const NodePtr node, r.find(r.text));
  if (node->folder() == nullptr) return fail(ENOTDIR, "not a folder");
  LT_CHECK(r.check(*node, kRead));
  LT_TRY(const auto entries, node->folder()->list());
  Response response;
  for (std::size_t i = std::min<std::uint64_t>(r.request.a, entries.size()); i < entries.size(); ++i) {
    const auto entry = node->folder()->find(entries[i].name);
    if (!entry) continue;
    const std::string line = fmt::format("{:o} {}", mode_of(**entry), entries[i].name);
    if (response.text.size() + line.size() + 1 > ipc::kMaxText) {
      response.reply.a = i;
      break;
    }
    response.text.append(line).append(1, '\0');
  }
  return response;
}

Result<Response> open(const TreeRequest& r) {
  const int flags = static_cast<int>(r.request.a);
  LT_TRY(const NodePtr node, r.find(r.text));
  if (node->file() == nullptr) return fail(EISDIR, "a folder");
  const int how = flags & O_ACCMODE;
  const bool reads = how != O_WRONLY;
  const bool writes = how != O_RDONLY || (flags & O_TRUNC) != 0;
  LT_CHECK(r.check(*node, (reads ? kRead : 0u) | (writes ? kWrite : 0u)));
  r.connection.tree_file.reset();
  LT_TRY(r.connection.tree_file, node->file()->open(r.caller, flags));
  r.connection.tree_flags = flags;
  return Response{};
}

Result<tracefs::OpenFile*> opened(const TreeRequest& r, int other_way) {
  if (!r.connection.tree_file) return fail(EBADF, "this connection has no file open");
  if ((r.connection.tree_flags & O_ACCMODE) == other_way) return fail(EBADF, "the file was not opened for this");
  return r.connection.tree_file.get();
}

Result<Response> read(const TreeRequest& r) {
  LT_TRY(tracefs::OpenFile* const file, opened(r, O_WRONLY));
  Response response;
  response.text.resize(std::min<std::uint64_t>(r.request.a, ipc::kMaxText));
  LT_TRY(const std::size_t size, file->read(r.caller, response.text, r.request.b));
  response.text.resize(size);
  return response;
}

Result<Response> write(const TreeRequest& r) {
  LT_TRY(tracefs::OpenFile* const file, opened(r, O_RDONLY));
  r.tree.context().refused_at.reset();
  // What goes with this connection goes with the owner, too: nobody would take it away from the next one.
  auto& probes = r.tree.context().rules.probes();
  probes.set_passing(!r.connection.last_words.empty());
  const auto taken = file->write(r.caller, r.text, r.request.b);
  probes.set_passing(false);
  Response response = taken ? Response() : error_response(taken.error());
  if (taken) response.reply.a = *taken;
  if (!taken && r.tree.context().refused_at) response.reply.a = *r.tree.context().refused_at + 1;
  return response;
}

struct FolderPlace {
  NodePtr parent;
  std::string_view name;  // empty: the root of the tree
};

Result<FolderPlace> find_parent(const TreeRequest& r) {
  std::string_view path = r.text;
  while (path.ends_with('/')) path.remove_suffix(1);
  const auto slash = path.rfind('/');
  const std::string_view name = slash == std::string_view::npos ? path : path.substr(slash + 1);
  LT_TRY(NodePtr parent, r.find(slash == std::string_view::npos ? std::string_view() : path.substr(0, slash)));
  if (parent->folder() == nullptr) return fail(ENOTDIR, "not a folder");
  LT_CHECK(r.check(*parent, kWrite | kEnter));
  return FolderPlace{std::move(parent), name};
}

// Whatever is written to it: a folder is removed.
class Removal : public tracefs::OpenFile {
 public:
  Removal(NodePtr parent, std::string name) : parent_(std::move(parent)), name_(std::move(name)) {}
  Result<std::size_t> write(const tracefs::Caller& caller, std::string_view bytes, std::uint64_t) override {
    LT_CHECK(parent_->folder()->remove_folder(name_, caller));
    return bytes.size();
  }

 private:
  NodePtr parent_;
  std::string name_;
};

Result<std::unique_ptr<tracefs::OpenFile>> removal(const TreeRequest& r) {
  LT_TRY(FolderPlace place, find_parent(r));
  LT_TRY(const NodePtr node, place.parent->folder()->find(place.name));
  if (node->folder() == nullptr) return fail(ENOTDIR, "not a folder");
  return std::make_unique<Removal>(std::move(place.parent), std::string(place.name));
}

// The open file is kept for it.
Result<Response> write_at_end(const TreeRequest& r) {
  auto& words = r.connection.last_words;
  if (r.request.a == 1) {
    std::erase_if(words, [&](const LastWord& word) { return word.text == r.text; });
    return Response{};
  }
  if (words.size() == kMostLastWords) return fail(ENOSPC, "this connection has too much to say when it ends");
  if (r.request.a == 2) {
    LT_TRY(auto file, removal(r));
    words.push_back({std::move(file), r.caller, std::string(r.text)});
    return Response{};
  }
  LT_CHECK(opened(r, O_RDONLY));
  words.push_back({std::move(r.connection.tree_file), r.caller, std::string(r.text)});
  return Response{};
}

Result<Response> change_folder(const TreeRequest& r) {
  LT_TRY(const FolderPlace place, find_parent(r));
  tracefs::Folder* const folder = place.parent->folder();
  const std::string_view name = place.name;
  const bool makes = r.request.operation == Operation::kTreeMakeFolder;
  // The order of these checks is that of the kernel's VFS, so that the errno is the same as through a mount.
  if (name.empty()) return fail(makes ? EEXIST : EBUSY, "the root of the tree");
  const auto known = folder->find(name);
  if (makes && known) return fail(EEXIST, "it exists");
  if (!makes && !known) return tl::unexpected<Error>(known.error());
  if (!makes && (*known)->folder() == nullptr) return fail(ENOTDIR, "not a folder");
  LT_CHECK(makes ? folder->make_folder(name, r.caller) : folder->remove_folder(name, r.caller));
  return Response{};
}

Result<Response> carry_out(const TreeRequest& r) {
  switch (r.request.operation) {
    case Operation::kTreeStat:
      return stat(r);
    case Operation::kTreeList:
      return list(r);
    case Operation::kTreeOpen:
      return open(r);
    case Operation::kTreeRead:
      return read(r);
    case Operation::kTreeWrite:
      return write(r);
    case Operation::kTreeMakeFolder:
    case Operation::kTreeRemoveFolder:
      return change_folder(r);
    case Operation::kTreeWriteAtEnd:
      return write_at_end(r);
    case Operation::kTreeClose:
      r.connection.tree_file.reset();
      return Response{};
    default:
      return fail(EOPNOTSUPP, "no such operation");
  }
}

}  // namespace

bool is_tree_request(Operation operation) {
  return operation >= Operation::kTreeStat && operation <= Operation::kTreeWriteAtEnd;
}

Response handle_tree_request(tracefs::Tree& tree, Connection& connection, const tracefs::Caller& caller,
                             const Request& request, std::string_view text) {
  auto response = carry_out({tree, connection, caller, request, text});
  return response ? *std::move(response) : error_response(response.error());
}

}  // namespace landtrace::host
