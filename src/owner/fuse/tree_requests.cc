// Requests about the tree: lookups, attributes, folders.
#include <sys/statvfs.h>

#include "fuse/answer.hpp"
#include "fuse/mounted_tree.hpp"

namespace landtrace::fuse {
namespace {

// The kernel must not keep entries and attributes: an event's folder may be gone a moment later. So each use asks
// again.
constexpr double kTimeout = 0;

Result<fuse_entry_param> entry_of(MountedTree& tree, fuse_ino_t folder, std::string_view name) {
  LT_TRY(Inode * inode, tree.inodes.look_up(folder, name));
  fuse_entry_param entry{};
  entry.ino = inode->number;
  entry.attr = tree.inodes.attributes(*inode);
  entry.attr_timeout = kTimeout;
  entry.entry_timeout = kTimeout;
  return entry;
}

void answer_entry(fuse_req_t request, MountedTree& tree, const Result<fuse_entry_param>& entry) {
  if (!entry) return answer_error(request, entry.error());
  if (fuse_reply_entry(request, &*entry) == 0) return;
  // The caller is gone. The kernel never got this lookup, so it will not send a FORGET for it.
  const auto access = tree.domain.enter();
  tree.inodes.forget(entry->ino, 1);
}

void look_up(fuse_req_t request, fuse_ino_t folder, const char* name) {
  MountedTree& tree = tree_of(request);
  const auto entry = [&] {
    const auto access = tree.domain.enter();
    return entry_of(tree, folder, name);
  }();
  answer_entry(request, tree, entry);
}

void forget(fuse_req_t request, fuse_ino_t number, std::uint64_t lookups) {
  {
    MountedTree& tree = tree_of(request);
    const auto access = tree.domain.enter();
    tree.inodes.forget(number, lookups);
  }
  fuse_reply_none(request);
}

void forget_several(fuse_req_t request, std::size_t count, fuse_forget_data* forgets) {
  {
    MountedTree& tree = tree_of(request);
    const auto access = tree.domain.enter();
    for (const fuse_forget_data& one : std::span(forgets, count)) tree.inodes.forget(one.ino, one.nlookup);
  }
  fuse_reply_none(request);
}

void answer_attributes(fuse_req_t request, const Result<struct stat>& attributes) {
  if (!attributes) return answer_error(request, attributes.error());
  fuse_reply_attr(request, &*attributes, kTimeout);
}

void get_attributes(fuse_req_t request, fuse_ino_t number, fuse_file_info*) {
  MountedTree& tree = tree_of(request);
  const auto attributes = [&]() -> Result<struct stat> {
    const auto access = tree.domain.enter();
    Inode* const inode = tree.inodes.find(number);
    if (inode == nullptr) return fail(ESTALE, "forgotten");
    return tree.inodes.attributes(*inode);
  }
  ();
  answer_attributes(request, attributes);
}

// The kernel has checked permissions (default_permissions). Sizes and times are taken and ignored: truncation has its
// effect when a file is opened.
void set_attributes(fuse_req_t request, fuse_ino_t number, struct stat* wanted, int what, fuse_file_info*) {
  MountedTree& tree = tree_of(request);
  const auto attributes = [&]() -> Result<struct stat> {
    const auto access = tree.domain.enter();
    Inode* const inode = tree.inodes.find(number);
    if (inode == nullptr) return fail(ESTALE, "forgotten");
    if ((what & (FUSE_SET_ATTR_MODE | FUSE_SET_ATTR_UID | FUSE_SET_ATTR_GID)) != 0) {
      Override changed;
      if ((what & FUSE_SET_ATTR_MODE) != 0) changed.mode = wanted->st_mode & 07777;
      if ((what & FUSE_SET_ATTR_UID) != 0) changed.uid = wanted->st_uid;
      if ((what & FUSE_SET_ATTR_GID) != 0) changed.gid = wanted->st_gid;
      tree.inodes.change(*inode, changed);
    }
    return tree.inodes.attributes(*inode);
  }
  ();
  answer_attributes(request, attributes);
}

// The options of a remount, from the shim (preload/interpose_mount.cc). The kernel has checked that the caller may
// write to the folder.
void set_attribute(fuse_req_t request, fuse_ino_t number, const char* name, const char* value, std::size_t size, int) {
  MountedTree& tree = tree_of(request);
  const auto done = [&]() -> Result<void> {
    if (number != FUSE_ROOT_ID || std::string_view(name) != "user.landtrace.remount") {
      return fail(EOPNOTSUPP, "no attributes are kept");
    }
    const auto access = tree.domain.enter();
    return tree.inodes.remount({value, size});
  }
  ();
  if (!done) return answer_error(request, done.error());
  fuse_reply_err(request, 0);
}

// Makes or removes an entry of a folder.
template <typename F>
auto in_folder(fuse_req_t request, fuse_ino_t folder, F&& act) -> decltype(act(std::declval<Inode&>())) {
  MountedTree& tree = tree_of(request);
  const auto access = tree.domain.enter();
  Inode* const parent = tree.inodes.find(folder);
  if (parent == nullptr || parent->node->folder() == nullptr) return fail(ESTALE, "the folder has been forgotten");
  return act(*parent);
}

void make_folder(fuse_req_t request, fuse_ino_t folder, const char* name, mode_t) {
  MountedTree& tree = tree_of(request);
  const auto entry = in_folder(request, folder, [&](Inode& parent) -> Result<fuse_entry_param> {
    LT_CHECK(parent.node->folder()->make_folder(name, caller_of(request)));
    tree.inodes.inherit(parent, Inodes::join(parent.path, name));
    return entry_of(tree, folder, name);
  });
  tree.courier.wait_for_pages();
  answer_entry(request, tree, entry);
}

void remove_folder(fuse_req_t request, fuse_ino_t folder, const char* name) {
  MountedTree& tree = tree_of(request);
  const auto removed = in_folder(request, folder, [&](Inode& parent) -> Result<void> {
    LT_CHECK(parent.node->folder()->remove_folder(name, caller_of(request)));
    tree.inodes.drop_overrides(Inodes::join(parent.path, name));
    return {};
  });
  tree.courier.wait_for_pages();
  if (!removed) return answer_error(request, removed.error());
  fuse_reply_err(request, 0);
}

void open_folder(fuse_req_t request, fuse_ino_t number, fuse_file_info* info) {
  MountedTree& tree = tree_of(request);
  FolderListing& listing = [&]() -> FolderListing& {
    const auto access = tree.domain.enter();
    return tree.listings.add(number);
  }();
  info->fh = FolderListings::name(listing);
  if (fuse_reply_open(request, info) == 0) return;
  const auto access = tree.domain.enter();
  tree.listings.remove(listing);
}

void read_folder(fuse_req_t request, fuse_ino_t, std::size_t size, off_t offset, fuse_file_info* info) {
  MountedTree& tree = tree_of(request);
  FolderListing& listing = FolderListings::named(info->fh);
  if (offset == 0) {
    const auto access = tree.domain.enter();
    if (const auto read = listing.read(tree.inodes); !read) return answer_error(request, read.error());
  }
  const std::vector<char> bytes = listing.entries_from(request, static_cast<std::size_t>(offset), size);
  fuse_reply_buf(request, bytes.data(), bytes.size());
}

void close_folder(fuse_req_t request, fuse_ino_t, fuse_file_info* info) {
  {
    MountedTree& tree = tree_of(request);
    const auto access = tree.domain.enter();
    tree.listings.remove(FolderListings::named(info->fh));
  }
  fuse_reply_err(request, 0);
}

void describe(fuse_req_t request, fuse_ino_t) {
  struct statvfs about {};
  about.f_bsize = about.f_frsize = 4096;
  about.f_namemax = 255;
  fuse_reply_statfs(request, &about);
}

// Files cannot be made or removed by name: the tree follows what is written to its files. Without these functions the
// kernel would say ENOSYS.
void refuse(fuse_req_t request, fuse_ino_t, const char*) { answer_error(request, EPERM); }

}  // namespace

void add_tree_operations(fuse_lowlevel_ops& operations) {
  operations.lookup = look_up;
  operations.forget = forget;
  operations.forget_multi = forget_several;
  operations.getattr = get_attributes;
  operations.setattr = set_attributes;
  operations.setxattr = set_attribute;
  operations.mkdir = make_folder;
  operations.rmdir = remove_folder;
  operations.opendir = open_folder;
  operations.readdir = read_folder;
  operations.releasedir = close_folder;
  operations.statfs = describe;
  operations.unlink = refuse;
  operations.mknod = [](fuse_req_t request, fuse_ino_t, const char*, mode_t, dev_t) { answer_error(request, EPERM); };
  operations.symlink = [](fuse_req_t request, const char*, fuse_ino_t, const char*) { answer_error(request, EPERM); };
  operations.link = [](fuse_req_t request, fuse_ino_t, fuse_ino_t, const char*) { answer_error(request, EPERM); };
  operations.rename = [](fuse_req_t request, fuse_ino_t, const char*, fuse_ino_t, const char*, unsigned) {
    answer_error(request, EPERM);
  };
  operations.create = [](fuse_req_t request, fuse_ino_t, const char*, mode_t, fuse_file_info*) {
    answer_error(request, EPERM);
  };
}

}  // namespace landtrace::fuse
