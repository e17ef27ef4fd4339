#include "symbols/usdt_notes.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

namespace landtrace::symbols {
namespace {

constexpr std::uint64_t kCode = 0x401000, kCodeOffset = 0x1000, kData = 0x602000, kDataOffset = 0x2000;
constexpr std::uint64_t kBase = 0x400800;

void append_word(std::string& to, std::uint64_t word, std::size_t size) {
  to.append(reinterpret_cast<const char*>(&word), size);
}

std::string note(std::uint64_t place, std::uint64_t base, std::uint64_t counter, const std::string& texts,
                 std::uint32_t type = 3, const std::string& owner = std::string("stapsdt\0", 8)) {
  std::string body;
  for (const std::uint64_t word : {place, base, counter}) append_word(body, word, 8);
  body += texts;
  std::string bytes;
  append_word(bytes, owner.size(), 4);
  append_word(bytes, body.size(), 4);
  append_word(bytes, type, 4);
  bytes += owner + body;
  while (bytes.size() % 4 != 0) bytes += '\0';
  return bytes;
}
std::string texts(const char* provider, const char* name, const char* arguments) {
  return std::string(provider) + '\0' + name + '\0' + arguments + '\0';
}

// An ELF file with 4 KB of code, 4 KB of data behind it in the file and another 4 KB in memory, and these notes.
std::vector<UsdtNote> notes_of(const std::string& notes, std::uint64_t base = kBase) {
  const std::string names("\0.note.stapsdt\0.stapsdt.base\0.shstrtab\0", 39);
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_machine = EM_X86_64;
  header.e_phoff = sizeof header;
  header.e_phentsize = sizeof(Elf64_Phdr);
  header.e_phnum = 2;
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = 4;
  header.e_shstrndx = 3;
  Elf64_Phdr segments[2]{};
  segments[0] = {PT_LOAD, PF_R | PF_X, kCodeOffset, kCode, kCode, 0x1000, 0x1000, 0x1000};
  segments[1] = {PT_LOAD, PF_R | PF_W, kDataOffset, kData, kData, 0x1000, 0x2000, 0x1000};
  std::string file(reinterpret_cast<const char*>(&header), sizeof header);
  file.append(reinterpret_cast<const char*>(segments), sizeof segments);
  file.resize(0x3000);
  Elf64_Shdr sections[4]{};
  sections[1] = {1, SHT_NOTE, 0, 0, file.size(), notes.size(), 0, 0, 4, 0};
  sections[2] = {15, SHT_PROGBITS, SHF_ALLOC, base, 0x800, 1, 0, 0, 1, 0};
  file += notes;
  sections[3] = {29, SHT_STRTAB, 0, 0, file.size(), names.size(), 0, 0, 1, 0};
  file += names;
  header.e_shoff = file.size();
  std::memcpy(file.data(), &header, sizeof header);
  file.append(reinterpret_cast<const char*>(sections), sizeof sections);
  Fd fd(::memfd_create("notes", MFD_CLOEXEC));
  EXPECT_EQ(::pwrite(fd.get(), file.data(), file.size(), 0), static_cast<ssize_t>(file.size()));
  const auto elf = ElfFile::open(std::move(fd), "notes");
  EXPECT_TRUE(elf);
  return read_usdt_notes(*elf);
}

TEST(UsdtNotes, AreFoundWithPlaceAndSemaphore) {
  const auto found = notes_of(note(kCode + 0x136, kBase, kData + 0x10, texts("app", "start", "-4@%edi 8@(%rsi)")) +
                              note(kCode + 0x200, kBase, 0, texts("lib", "end", "")));
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].provider, "app");
  EXPECT_EQ(found[0].name, "start");
  EXPECT_EQ(found[0].arguments, "-4@%edi 8@(%rsi)");
  EXPECT_EQ(found[0].address, kCode + 0x136);
  EXPECT_EQ(found[0].offset, kCodeOffset + 0x136);
  EXPECT_EQ(found[0].counter, kData + 0x10);
  EXPECT_EQ(found[0].counter_offset, kDataOffset + 0x10);
  EXPECT_EQ(found[1].provider, "lib");
  EXPECT_EQ(found[1].arguments, "");
  EXPECT_EQ(found[1].counter, 0u);
}

TEST(UsdtNotes, WhatPrelinkHasMovedIsFoundWhereItIs) {
  const auto found = notes_of(note(kCode - 0x100000 + 0x136, kBase - 0x100000, kData - 0x100000, texts("a", "b", "")));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].address, kCode + 0x136);
  EXPECT_EQ(found[0].counter, kData);
}

TEST(UsdtNotes, ASemaphoreWithoutBytesInTheFileHasNoOffset) {
  const auto found = notes_of(note(kCode, kBase, kData + 0x1800, texts("a", "b", "")));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].counter, kData + 0x1800);
  EXPECT_EQ(found[0].counter_offset, 0u);
}

TEST(UsdtNotes, OthersAndThoseOfNoCodeAreLeftOut) {
  const std::string all =
      note(kCode, kBase, 0, texts("a", "b", ""), 2) +
      note(kCode, kBase, 0, texts("a", "b", ""), 3, std::string("GNU\0", 4)) +
      note(kData, kBase, 0, texts("a", "b", "")) + note(kCode + 0x1000, kBase, 0, texts("a", "b", "")) +
      note(kCode, kBase, 0, texts("", "b", "")) + note(kCode, kBase, 0, texts("a", "", "")) +
      note(kCode, kBase, 0, std::string(300, 'a') + '\0' + texts("b", "", "")) + note(kCode, kBase, 0, "a") +
      note(kCode, kBase, 0, std::string("a\0b\0c", 5)) + note(kCode + 1, kBase, 0, texts("good", "one", ""));
  const auto found = notes_of(all);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].provider, "good");
}

TEST(UsdtNotes, DamagedOnesEndTheSearch) {
  const std::string one = note(kCode, kBase, 0, texts("a", "b", "4@%eax"));
  for (std::size_t size = 0; size < one.size(); ++size) {
    const auto found = notes_of(one + one.substr(0, size));
    ASSERT_GE(found.size(), 1u) << size;
    EXPECT_EQ(found[0].name, "b");
  }
  std::string huge = one;
  huge.replace(4, 4, "\xff\xff\xff\xff");
  EXPECT_EQ(notes_of(huge).size(), 0u);
  huge = one;
  huge.replace(0, 4, "\xff\xff\xff\xff");
  EXPECT_EQ(notes_of(huge).size(), 0u);
}

}  // namespace
}  // namespace landtrace::symbols
