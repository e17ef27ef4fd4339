#include "fuse/folder_listing.hpp"

namespace landtrace::fuse {

Result<void> FolderListing::read(Inodes& inodes) {
  Inode* const inode = inodes.find(folder_);
  if (inode == nullptr || inode->node->folder() == nullptr) return fail(ESTALE, "the folder has been forgotten");
  LT_TRY(auto listed, inode->node->folder()->list());
  entries_.clear();
  entries_.reserve(listed.size() + 2);
  const std::string& path = inode->path;
  const auto slash = path.rfind('/');
  entries_.push_back({".", Inodes::visible_number(path), true});
  entries_.push_back({"..", Inodes::visible_number(slash == std::string::npos ? "" : path.substr(0, slash)), true});
  for (auto& [name, is_folder] : listed) {
    const std::uint64_t number = Inodes::visible_number(Inodes::join(path, name));
    entries_.push_back({std::move(name), number, is_folder});
  }
  return {};
}

std::vector<char> FolderListing::entries_from(fuse_req_t request, std::size_t index, std::size_t size) const {
  std::vector<char> bytes(size);
  std::size_t used = 0;
  for (; index < entries_.size(); ++index) {
    const Entry& entry = entries_[index];
    struct stat shown {};
    shown.st_ino = entry.visible_number;
    shown.st_mode = entry.is_folder ? S_IFDIR : S_IFREG;
    const std::size_t needed = fuse_add_direntry(request, bytes.data() + used, size - used, entry.name.c_str(), &shown,
                                                 static_cast<off_t>(index + 1));
    if (needed > size - used) break;
    used += needed;
  }
  bytes.resize(used);
  return bytes;
}

}  // namespace landtrace::fuse
