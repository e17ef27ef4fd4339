// A folder between OPENDIR and RELEASEDIR: its entries at the time when it was read from the beginning.
#pragma once

#include <string>
#include <vector>

#include "fuse/inodes.hpp"
#include "fuse/lowlevel.hpp"
#include "fuse/registry.hpp"

namespace landtrace::fuse {

class FolderListing {
 public:
  explicit FolderListing(std::uint64_t folder) : folder_(folder) {}
  // The caller holds the domain.
  Result<void> read(Inodes& inodes);
  // As many entries as `size` bytes take, from the one at `index` on.
  std::vector<char> entries_from(fuse_req_t request, std::size_t index, std::size_t size) const;

 private:
  struct Entry {
    std::string name;
    std::uint64_t visible_number;
    bool is_folder;
  };
  std::uint64_t folder_;
  std::vector<Entry> entries_;
};

using FolderListings = Registry<FolderListing>;

}  // namespace landtrace::fuse
