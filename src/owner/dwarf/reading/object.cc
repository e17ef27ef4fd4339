#include "dwarf/reading/object.hpp"

#include <dwarf.h>
#include <gelf.h>

#include <algorithm>
#include <array>
#include <cstdlib>

namespace landtrace::dwarf {
namespace {

// The split unit instead of what is left of it in the object.
Unit whole_unit(const Dwarf_Die& die, std::uint8_t type, const Dwarf_Die& split) {
  Unit unit{die, die, false};
  if (type != DW_UT_skeleton) return unit;
  unit.is_missing = split.addr == nullptr;
  if (!unit.is_missing) unit.die = split;
  return unit;
}

std::optional<FrameBase> frame_in(Dwarf_CFI* cfi, std::uint64_t address) {
  Dwarf_Frame* frame = nullptr;
  if (cfi == nullptr || dwarf_cfi_addrframe(cfi, address, &frame) != 0) return std::nullopt;
  Dwarf_Op* ops = nullptr;
  std::size_t count = 0;
  std::optional<FrameBase> base;
  if (dwarf_frame_cfa(frame, &ops, &count) == 0 && count == 1) {
    const auto offset = static_cast<std::int64_t>(ops[0].number);
    if (ops[0].atom >= DW_OP_breg0 && ops[0].atom <= DW_OP_breg31) {
      base = FrameBase{static_cast<unsigned>(ops[0].atom - DW_OP_breg0), offset};
    } else if (ops[0].atom == DW_OP_bregx) {
      base = FrameBase{static_cast<unsigned>(ops[0].number), static_cast<std::int64_t>(ops[0].number2)};
    }
  }
  std::free(frame);
  return base;
}

}  // namespace

Result<Object> Object::open(Fd file, const std::string& path, const std::string& debug_folder) {
  Object object;
  object.path_ = path;
  LT_TRY(object.files_, open_debug_files(std::move(file), path, debug_folder));
  std::size_t count = 0;
  Elf* const elf = object.files_.object.elf.get();
  if (elf_getphdrnum(elf, &count) != 0) return fail(EBADMSG, path + " is damaged");
  for (std::size_t i = 0; i < count; ++i) {
    GElf_Phdr header;
    if (gelf_getphdr(elf, static_cast<int>(i), &header) == nullptr || header.p_type != PT_LOAD) continue;
    object.segments_.push_back({header.p_vaddr, header.p_offset, header.p_filesz, (header.p_flags & PF_X) != 0});
  }
  object.frames_.reset(dwarf_getcfi_elf(elf));
  return object;
}

void Object::for_each_unit(const std::function<bool(Unit&)>& look) const {
  Dwarf_CU* cu = nullptr;
  std::uint8_t type = 0;
  Dwarf_Die die{}, split{};
  while (dwarf_get_units(dwarf(), cu, &cu, nullptr, &type, &die, &split) == 0) {
    if (type == DW_UT_type || type == DW_UT_split_type || die.addr == nullptr) continue;
    Unit unit = whole_unit(die, type, split);
    if (!look(unit)) return;
    split = {};
  }
}

std::optional<Unit> Object::unit_at(std::uint64_t address) const {
  Dwarf_Die die{};
  if (dwarf_addrdie(dwarf(), address, &die) != nullptr && dwarf_haspc(&die, address) == 1) {
    std::uint8_t type = 0;
    Dwarf_Die split{};
    if (dwarf_cu_info(die.cu, nullptr, &type, nullptr, &split, nullptr, nullptr, nullptr) == 0) {
      return whole_unit(die, type, split);
    }
  }
  // Clang writes no table of addresses.
  std::optional<Unit> found;
  Dwarf_CU* cu = nullptr;
  std::uint8_t type = 0;
  Dwarf_Die split{};
  while (!found && dwarf_get_units(dwarf(), cu, &cu, nullptr, &type, &die, &split) == 0) {
    if (die.addr != nullptr && dwarf_haspc(&die, address) == 1) found = whole_unit(die, type, split);
    split = {};
  }
  return found;
}

std::optional<FrameBase> Object::frame_at(std::uint64_t address) const {
  if (auto base = frame_in(frames_.get(), address)) return base;
  return frame_in(dwarf_getcfi(dwarf()), address);
}

std::optional<std::uint64_t> Object::address_of(std::uint64_t offset) const {
  const auto found = std::find_if(segments_.begin(), segments_.end(), [&](const Segment& segment) {
    return offset >= segment.offset && offset - segment.offset < segment.size && segment.is_code;
  });
  if (found == segments_.end()) return std::nullopt;
  return offset - found->offset + found->address;
}

std::optional<std::uint64_t> Object::offset_of(std::uint64_t address) const {
  const auto found = std::find_if(segments_.begin(), segments_.end(), [&](const Segment& segment) {
    return address >= segment.address && address - segment.address < segment.size && segment.is_code;
  });
  if (found == segments_.end()) return std::nullopt;
  return address - found->address + found->offset;
}

}  // namespace landtrace::dwarf
