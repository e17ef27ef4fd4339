// What the kernel knows about the tree: a number for each node that it has looked up, until it forgets the node. The
// nodes themselves are looked up again each time, since events come and go.
//
// The caller holds the domain.
#pragma once

#include <sys/stat.h>

#include <ctime>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>

#include "tracefs/node.hpp"

namespace landtrace::fuse {

// Of a file that is one page, as the status page.
inline constexpr std::size_t kPageBytes = 4096;

struct Inode {
  std::uint64_t number = 0;  // the kernel's name for it (nodeid)
  std::string path;          // "" is the root
  std::shared_ptr<tracefs::Node> node;
  std::uint64_t lookups = 0;
};

// What chmod and chown have changed. It lasts as long as the mount: people call chgrp -R on a tracefs.
struct Override {
  std::optional<mode_t> mode;
  std::optional<uid_t> uid;
  std::optional<gid_t> gid;
};

class Inodes {
 public:
  struct Shown {
    std::uint32_t uid = 0;
    std::uint32_t gid = 0;
    std::optional<unsigned> root_mode;
  };
  Inodes(std::shared_ptr<tracefs::Folder> root, Shown shown);

  // nullptr: the kernel has forgotten that number.
  Inode* find(std::uint64_t number);
  // Looks up the entry `name` of a folder and counts one more lookup of it. ENOENT, ENOTDIR, and the folder's own
  // errors.
  Result<Inode*> look_up(std::uint64_t folder, std::string_view name);
  void forget(std::uint64_t number, std::uint64_t lookups);
  void forget_all();

  // All that have no owner or group of their own have the top folder's, as in a kernel's tracefs.
  void change(const Inode& inode, const Override& changed);
  // As a remount of the kernel's tracefs: "gid=100,uid=0" of all files, whatever they were given before, "mode=750" of
  // the top folder. Other options mean nothing. EINVAL.
  Result<void> remount(std::string_view options);
  // A new instance has the owner and group of the folder that it is made in.
  void inherit(const Inode& folder, const std::string& path);
  // For a folder that is removed: forgets the overrides of everything in it.
  void drop_overrides(const std::string& path);

  [[nodiscard]] struct stat attributes(const Inode& inode) const;
  // The number that stat() shows: a path always has the same.
  static std::uint64_t visible_number(std::string_view path);
  static std::string join(std::string_view folder, std::string_view name);

  // Every inode whose page this is.
  template <typename F>
  void for_page(const std::byte* page, F&& each) {
    const auto [first, last] = pages_.equal_range(page);
    for (auto at = first; at != last; ++at) each(at->second);
  }

 private:
  Inode& add(std::string path, std::shared_ptr<tracefs::Node> node);
  // Of the instance that the path is in; nullptr where it has none.
  [[nodiscard]] const Override* override_of_instance(std::string_view path) const;

  Shown shown_;
  std::timespec made_{};
  std::uint64_t next_ = 1;
  std::unordered_map<std::uint64_t, Inode> inodes_;
  std::unordered_map<std::string, std::uint64_t> by_path_;
  std::multimap<const std::byte*, std::uint64_t> pages_;
  std::map<std::string, Override, std::less<>> overrides_;
};

}  // namespace landtrace::fuse
