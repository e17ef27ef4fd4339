// What an ELF file's code looks like: its functions, and for a place in one, how it can be probed or why not.
//
//     file -> Image      its segments
//          -> Functions  from .symtab, .dynsym, the separate debug file, .eh_frame
//          -> Targets    where its code and data jump to, from one look at everything (sweep.hpp)
//     place -> Recipe    decodes a few instructions, moves them (relocation.hpp), looks at the targets
//
// The file is not trusted: a damaged one gives wrong recipes, but no more. A recipe for a file that another user may
// write is worth as much as that user.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>

#include "agent/recipe.hpp"
#include "code/object.hpp"
#include "code/targets.hpp"

namespace landtrace::code {

// Not thread-safe.
class Analysis {
 public:
  // What ElfFile::open() says; ENOTSUP: it is code for another machine than x86-64; EBADMSG: it has no code.
  static Result<Analysis> open(const std::string& path, const std::string& debug_folder = symbols::kDebugFolder);
  static Result<Analysis> open(Fd fd, const std::string& path, const std::string& debug_folder = symbols::kDebugFolder);
  static Result<Analysis> open(Object object, const std::string& path);

  [[nodiscard]] const std::string& build_id() const { return build_id_; }
  // Ascending by address; the linker's own stubs (.plt) are not among them.
  [[nodiscard]] std::span<const Function> functions() const { return functions_->all(); }
  [[nodiscard]] std::span<const std::string_view> names(const Function& function) const {
    return functions_->names(function);
  }
  // What names mean in it.
  [[nodiscard]] const Functions& named() const { return *functions_; }
  // The file's offset of an address in it, which is what a probe's definition says.
  [[nodiscard]] std::uint64_t offset_of(std::uint64_t address) const { return image_->offset_of(address); }
  [[nodiscard]] std::uint64_t offset_of(const Function& function) const { return offset_of(function.begin); }
  // Null: no function has code at that offset.
  [[nodiscard]] const Function* function_at(std::uint64_t offset) const;
  // Of an ifunc: where the functions are that it may choose, in the file.
  [[nodiscard]] std::vector<std::uint64_t> choices(const Function& chooser) const;

  // How far what the file has at `to`, among writable data, is from the code at `from` once both are loaded. nullopt:
  // nothing is loaded from there.
  [[nodiscard]] std::optional<std::int64_t> distance(std::uint64_t from, std::uint64_t to) const;

  // How the place at that offset in the file is probed. Known from then on: it is asked when a pattern's functions are
  // found, and again when they are listened to.
  [[nodiscard]] agent::Recipe recipe(std::uint64_t offset);
  // Finds that out of all functions' beginnings, unless they are too many to be kept.
  void learn_recipes();
  // Why the returns of the function that begins at that offset cannot be probed; kNone: they can, if its entry can.
  [[nodiscard]] agent::Refusal return_refusal(std::uint64_t offset);

 private:
  explicit Analysis(Object object);
  void look_at_everything(const std::vector<Frame>& frames);
  [[nodiscard]] agent::Recipe find_recipe(std::uint64_t offset);
  [[nodiscard]] bool is_own(const Function& function) const;
  [[nodiscard]] bool begins_instruction(const Function& function, std::uint64_t address);
  [[nodiscard]] agent::Refusal refusal_of(const Function* function, std::uint64_t address);
  struct Displaced;
  [[nodiscard]] agent::Refusal displace(const Function& function, std::uint64_t address, agent::Recipe& recipe,
                                        Displaced& displaced);
  [[nodiscard]] agent::Refusal find_room(const Function& function, std::uint64_t address, std::uint32_t jump_size,
                                         agent::Recipe& recipe, Displaced& displaced);
  [[nodiscard]] agent::Refusal find_less_room(const Function& function, std::uint64_t address, agent::Refusal refusal,
                                              agent::Recipe& recipe, Displaced& displaced);
  [[nodiscard]] agent::Refusal find_room_before(const Function& function, std::uint64_t address, agent::Refusal refusal,
                                                agent::Recipe& recipe, Displaced& displaced);
  [[nodiscard]] std::optional<std::uint64_t> find_spring(std::uint64_t address);
  [[nodiscard]] std::uint64_t padding_between(const Function& before, std::uint64_t end);
  [[nodiscard]] bool is_padding(Bytes bytes, std::uint64_t address, std::size_t& size) const;
  [[nodiscard]] agent::Refusal jump_refusal(const Function& function, std::uint64_t address,
                                            const Displaced& displaced) const;
  [[nodiscard]] agent::Refusal return_refusal_of(const Function& function, std::uint64_t address);
  [[nodiscard]] bool reads_return_address(const Function& function);

  // Where they stay, so that what refers to them survives a move.
  std::unique_ptr<symbols::ElfFile> file_;
  std::unique_ptr<Image> image_;
  std::unique_ptr<Functions> functions_;
  std::unique_ptr<Targets> targets_;
  std::unique_ptr<Reader> reader_;
  std::unordered_map<std::uint64_t, agent::Recipe> recipes_;  // by offset
  std::string build_id_;
  bool is_own_object_ = false;  // what is loaded into programs for us
};

}  // namespace landtrace::code
