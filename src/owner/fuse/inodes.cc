#include "fuse/inodes.hpp"

#include <algorithm>

#include "base/input.hpp"

namespace landtrace::fuse {
namespace {

// Pages are addressed by an offset that only grows; the page cache must never see the file's end.
constexpr std::uint64_t kEndless = 1ull << 62;

// A page cache belongs to an inode, and each reader of raw pages has pages of its own: so each lookup of such a file
// makes an inode.
bool is_shared(tracefs::Node& node) { return node.file() == nullptr || !node.file()->is_paged(); }

constexpr std::uint64_t kRootNumber = 1;

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

Result<void> Inodes::remount(std::string_view options) {
  Override wanted;
  while (!options.empty()) {
    const std::string_view option = options.substr(0, options.find(','));
    options.remove_prefix(std::min(option.size() + 1, options.size()));
    const auto equals = option.find('=');
    const std::string_view name = option.substr(0, equals);
    if (equals == std::string_view::npos || (name != "gid" && name != "uid" && name != "mode")) continue;
    LT_TRY(const std::uint64_t number, number_in(option.substr(equals + 1), name == "mode" ? 8 : 10));
    if (number >= UINT32_MAX) return fail(EINVAL, "no id is as large");
    if (name == "gid") wanted.gid = static_cast<gid_t>(number);
    if (name == "uid") wanted.uid = static_cast<uid_t>(number);
    if (name == "mode") wanted.mode = static_cast<mode_t>(number & 07777);
  }
  for (auto& [path, known] : overrides_) {
    if (wanted.gid) known.gid.reset();
    if (wanted.uid) known.uid.reset();
  }
  change(inodes_.at(kRootNumber), wanted);
  return {};
}

void Inodes::inherit(const Inode& folder, const std::string& path) {
  const auto found = overrides_.find(folder.path);
  if (found != overrides_.end()) overrides_[path] = {{}, found->second.uid, found->second.gid};
}

const Override* Inodes::override_of_instance(std::string_view path) const {
  constexpr std::string_view kInstances = "instances/";
  if (!path.starts_with(kInstances)) return nullptr;
  const auto found = overrides_.find(path.substr(0, path.find('/', kInstances.size())));
  return found == overrides_.end() ? nullptr : &found->second;
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
  if (const Override* const instance = override_of_instance(inode.path)) {
    shown.st_uid = instance->uid.value_or(shown.st_uid);
    shown.st_gid = instance->gid.value_or(shown.st_gid);
  }
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
