// What is mapped in this process, as /proc/self/maps says: which objects, and where there is room beside them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace landtrace::agent {

struct Mapped {
  std::uint64_t begin;
  std::uint64_t end;
  std::uint64_t offset;  // in the file
  std::uint64_t inode;
  int protection;    // PROT_…
  std::string path;  // or a name in brackets, or empty
  [[nodiscard]] bool holds(std::uint64_t address) const { return address >= begin && address < end; }
};

// In the order of their addresses. Empty where there is no /proc, or no descriptor to read it.
std::vector<Mapped> read_maps();
// Of the file's text, which was read page by page while other threads mapped memory: what has grown downwards between
// two pages shows up again, and begins before the end of what stands before it. Here none overlap.
std::vector<Mapped> parse_maps(std::string_view text);
const Mapped* find(const std::vector<Mapped>& maps, std::uint64_t address);
// Of this process, at most a page. False: it is gone, or part of it.
bool read_memory(std::uint64_t address, void* to, std::size_t size);

// Room for `size` bytes, a multiple of a page, as near to `place` as there is; 0 where there is none within reach of
// a jump. Not where the heap or a stack will grow.
std::uint64_t find_room(const std::vector<Mapped>& maps, std::uint64_t place, std::uint64_t size);

// What a file is, on both sides: by its path as stat() says, else by its build id.
struct ObjectId {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::uint8_t build_id[20] = {};
  std::uint32_t build_id_size = 0;
};

// Which mappings are the object's, by questions that are asked once for each path.
class Objects {
 public:
  // What is mapped now; where that cannot be read it stays as it was.
  void read();
  [[nodiscard]] const std::vector<Mapped>& maps() const { return maps_; }
  // The addresses at which the byte of the file is mapped executable.
  void find(const ObjectId& object, std::uint64_t offset, std::vector<std::uint64_t>& addresses);

 private:
  struct File {
    std::string path;
    ObjectId id;
    std::uint64_t base = 0;  // where its first byte is mapped; 0: it is not
  };
  const File& file_of(const Mapped& mapped);
  std::vector<Mapped> maps_;
  std::vector<File> files_;
};

}  // namespace landtrace::agent
