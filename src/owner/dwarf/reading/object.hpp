// A program or library with its debugging information.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "dwarf/reading/debug_file.hpp"

namespace landtrace::dwarf {

// What a type may be made of, what a scope may lie in: nobody's own types and functions are nested so deep.
inline constexpr int kMostNested = 64;

// A register, as DWARF numbers it, and how far what is meant is from where it points.
struct FrameBase {
  unsigned reg = 0;
  std::int64_t offset = 0;
};

struct Unit {
  Dwarf_Die die{};          // what is in it
  Dwarf_Die lines{};        // what has its source lines; another one if it is split
  bool is_missing = false;  // it is in a file of -gsplit-dwarf that is not there
};

class Object {
 public:
  // What open_debug_files() says.
  static Result<Object> open(Fd object, const std::string& path, const std::string& debug_folder);

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] Dwarf* dwarf() const { return files_.dwarf(); }

  // Until `look` returns false.
  void for_each_unit(const std::function<bool(Unit&)>& look) const;
  // The unit that has the code at an address.
  [[nodiscard]] std::optional<Unit> unit_at(std::uint64_t address) const;
  // Where a call's frame is while the thread is at that address: its top, as DW_OP_call_frame_cfa says.
  [[nodiscard]] std::optional<FrameBase> frame_at(std::uint64_t address) const;

  // Between places in the file and addresses in it.
  [[nodiscard]] std::optional<std::uint64_t> address_of(std::uint64_t offset) const;
  // Of code alone.
  [[nodiscard]] std::optional<std::uint64_t> offset_of(std::uint64_t address) const;

 private:
  Object() = default;

  struct Segment {
    std::uint64_t address;
    std::uint64_t offset;
    std::uint64_t size;
    bool is_code;
  };
  struct CloseFrames {
    void operator()(Dwarf_CFI* frames) const { dwarf_cfi_end(frames); }
  };
  std::string path_;
  DebugFiles files_;
  std::unique_ptr<Dwarf_CFI, CloseFrames> frames_;  // of .eh_frame; null: there is none
  std::vector<Segment> segments_;
};

}  // namespace landtrace::dwarf
