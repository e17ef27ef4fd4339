#include "fuse/inodes.hpp"

namespace landtrace::fuse {
namespace {

// Pages are addressed by an offset that only grows; the page cache must never see the file's end.
constexpr std::uint64_t kEndless = 1ull << 62;

// A page cache belongs to an inode, and each reader of raw pages has pages of its own: so each lookup of such a file
// makes an inode.
bool is_shared(tracefs::Node& node) { return node.file() == nullptr || !node.file()->is_paged(); }

bool same_kind(tracefs::Node& a, tracefs::Node& b) { return (a.folder() != nullptr) == (b.folder() != nullptr); }

const std::byte* page_of(tracefs::Node& node) { return node.file() == nullptr ? nullptr : node.file()->page(); }

}  // namespace

Inodes::Inodes(std::shared_ptr<tracefs::Folder> root, Shown shown) : shown_(shown) {
  ::clock_gettime(CLOCK_REALTIME, &made_);
  add("", std::move(root)).lookups = 1;
  if (shown.root_mode) overrides_[""].mode = *shown.root_mode;
}

Inode& Inodes::add(std::string path, std::shared_ptr<tracefs::Node> node) {
  const std::uint64_t number = next_++;
  if (is_shared(*node)) by_path_.insert_or_assign(path, number);
  if (const std::byte* const page = page_of(*node)) pages_.emplace(page, number);
  return inodes_.emplace(number, Inode{number, std::move(path), std::move(node), 0}).first->second;
}

Inode* Inodes::find(std::uint64_t number) {
  const auto found = inodes_.find(number);
  return found == inodes_.end() ? nullptr : &found->second;
}

Result<Inode*> Inodes::look_up(std::uint64_t folder, std::string_view name) {
  Inode* const parent = find(folder);
  if (parent == nullptr) return fail(ESTALE, "the folder has been forgotten");
  if (parent->node->folder() == nullptr) return fail(ENOTDIR, "not a folder");
  LT_TRY(auto node, parent->node->folder()->find(name));
  std::string path = join(parent->path, name);
  if (const auto known = by_path_.find(path); known != by_path_.end() && is_shared(*node)) {
    Inode& inode = inodes_.at(known->second);
    if (same_kind(*inode.node, *node) && page_of(*inode.node) == page_of(*node)) {
      inode.node = std::move(node);
      ++inode.lookups;
      return &inode;
    }
  }
  Inode& inode = add(std::move(path), std::move(node));
  inode.lookups = 1;
  return &inode;
}

void Inodes::forget(std::uint64_t number, std::uint64_t lookups) {
  const auto found = inodes_.find(number);
  if (found == inodes_.end()) return;
  Inode& inode = found->second;
  inode.lookups -= std::min(inode.lookups, lookups);
  if (inode.lookups != 0 || inode.path.empty()) return;
  if (const auto known = by_path_.find(inode.path); known != by_path_.end() && known->second == number) {
    by_path_.erase(known);
  }
  std::erase_if(pages_, [number](const auto& entry) { return entry.second == number; });
  inodes_.erase(found);
}

void Inodes::forget_all() {
  inodes_.clear();
  by_path_.clear();
  pages_.clear();
}

void Inodes::change(const Inode& inode, const Override& changed) {
  if (inode.path.empty()) {
    shown_.uid = changed.uid.value_or(shown_.uid);
    shown_.gid = changed.gid.value_or(shown_.gid);
    if (!changed.mode) return;
    overrides_[inode.path].mode = changed.mode;
    return;
  }
  Override& known = overrides_[inode.path];
  if (changed.mode) known.mode = changed.mode;
  if (changed.uid) known.uid = changed.uid;
  if (changed.gid) known.gid = changed.gid;
}

void Inodes::drop_overrides(const std::string& path) {
  overrides_.erase(path);
  const std::string inside = path + '/';
  auto at = overrides_.lower_bound(inside);
  while (at != overrides_.end() && at->first.starts_with(inside)) at = overrides_.erase(at);
}

struct stat Inodes::attributes(const Inode& inode) const {
  struct stat shown {};
  tracefs::File* const file = inode.node->file();
  shown.st_ino = visible_number(inode.path);
  shown.st_mode = (file == nullptr ? S_IFDIR : S_IFREG) | inode.node->mode();
  shown.st_nlink = 1;
  shown.st_uid = shown_.uid;
  shown.st_gid = shown_.gid;
  if (const auto found = overrides_.find(inode.path); found != overrides_.end()) {
    const Override& changed = found->second;
    shown.st_mode = (shown.st_mode & S_IFMT) | changed.mode.value_or(shown.st_mode & 07777);
    shown.st_uid = changed.uid.value_or(shown.st_uid);
    shown.st_gid = changed.gid.value_or(shown.st_gid);
  }
  // Other files have size 0, as the kernel's do: their text is made while it is read.
  if (file != nullptr) {
    shown.st_size = static_cast<off_t>(file->is_paged()          ? kEndless
                                       : file->page() != nullptr ? kPageBytes
                                                                 : file->size());
  }
  shown.st_blksize = kPageBytes;
  shown.st_atim = shown.st_mtim = shown.st_ctim = made_;
  return shown;
}

std::uint64_t Inodes::visible_number(std::string_view path) {
  std::uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
  for (const char c : path) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return path.empty() ? 1 : hash | 1ull << 32;
}

std::string Inodes::join(std::string_view folder, std::string_view name) {
  std::string path(folder);
  if (!path.empty()) path += '/';
  return path.append(name);
}

}  // namespace landtrace::fuse
