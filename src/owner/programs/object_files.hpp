// Objects (programs and libraries) that somebody names, and where their functions are in them. They are opened with the
// rights of who names them: an owner that is root must not read files for others that they could not read themselves.
//
// A file may be on a file system that never answers, perhaps because it is this owner's own: another thread looks at
// it, and is left behind if that takes too long.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.hpp"
#include "base/result.hpp"
#include "dwarf/reader.hpp"
#include "language/probe/usdt_operand.hpp"
#include "programs/identity.hpp"
#include "programs/known_objects.hpp"
#include "programs/object_preparation.hpp"
#include "programs/object_functions.hpp"
#include "programs/patient_worker.hpp"

namespace landtrace::programs {

// Programs know it by device and inode, or by its build id.
struct ObjectFile {
  std::string path;  // by which it was opened, from the root folder
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::uint64_t size = 0;
  std::string build_id;  // bytes; "": none, or not an ELF file
  std::shared_ptr<code::Analysis> analysis = {};  // nullptr: nobody has looked through it yet
};

struct FunctionPlace {
  ObjectFile object;
  FunctionSpot spot;
};

struct FunctionPlaces {
  ObjectFile object;
  FunctionSpots spots;
};

struct UsdtPlaces {
  ObjectFile object;
  std::vector<language::UsdtPlace> places;
};

struct Asker {
  Identity who{};
  std::uint32_t tid = 0;  // of the thread in whose folder relative paths begin; 0: none
};

class ObjectFiles {
 public:
  // Before questions about the object with that path or name. False: it is large, and being looked through; ask again
  // in a moment.
  bool prepare(const Asker& asker, std::string_view object);
  // EINVAL for what is not a regular file, ETIMEDOUT where nothing answers, what open(2) says.
  Result<ObjectFile> open(const Asker& asker, std::string_view path);
  // What find_function() says of the object.
  Result<FunctionPlace> find_function(const Asker& asker, std::string_view path, std::string_view name);
  // What find_functions() says of the object.
  Result<FunctionPlaces> find_functions(const Asker& asker, std::string_view path, std::string_view pattern,
                                        bool are_returns, Named named);
  // The places that the file's notes name so; none of a file without. What arguments need of its symbols is found.
  Result<UsdtPlaces> find_usdt(const Asker& asker, std::string_view path, std::string_view provider,
                               std::string_view name);
  // How far the symbol of that name is from what stands at each of these offsets in the file, once both are loaded.
  // ENOENT: there is none, or nothing is loaded from there.
  Result<std::vector<std::int64_t>> find_symbol(const Asker& asker, std::string_view path, std::string_view name,
                                                const std::vector<std::uint64_t>& offsets);

  // What debugging information says, as dwarf::Reader does. With the rights of who asks, too: its files may be others.
  Result<std::vector<dwarf::NamedValues>> find_values(const Asker& asker, std::string_view path, std::uint64_t offset,
                                                      bool is_return, const std::vector<std::string>& expressions);
  struct Lines {
    ObjectFile object;
    dwarf::LinePlaces places;
  };
  Result<Lines> find_line(const Asker& asker, std::string_view path, std::string_view file, unsigned line);
  Result<std::string> why_no_function(const Asker& asker, std::string_view path, std::string_view name);

 private:
  template <typename T>
  Result<T> ask(std::function<Result<T>()> question);

  PatientWorker worker_;
  std::shared_ptr<KnownObjects> known_ = std::make_shared<KnownObjects>();
  ObjectPreparation preparation_;
  // The last one that was found prepared. It is not looked at for each of many definitions.
  struct Prepared {
    std::string object;
    std::uint32_t uid = 0;
    std::chrono::steady_clock::time_point at;
  };
  std::optional<Prepared> prepared_;
};

// Whether an object whose file has that name is meant by `name`: "libc.so.6" by itself and by "libc".
bool is_object_called(std::string_view file, std::string_view name);

// An object's path by its name alone, as the dynamic linker finds it, or a shell: "libc.so.6", "libc", "bash". "" if
// there is none. Looks into folders of the system only.
std::string find_object(std::string_view name);

}  // namespace landtrace::programs
