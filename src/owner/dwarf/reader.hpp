// Asks an object's debugging information. The files are read by a program of its own, landtrace-dwarf, with the rights
// of who asks and with little memory and time: libdw is not made for files that somebody has damaged on purpose, and
// nobody else has to load it.
#pragma once

#include <chrono>

#include "base/fd.hpp"
#include "dwarf/answer.hpp"

namespace landtrace::dwarf {

struct Rights {
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
};

class Reader {
 public:
  // `object` is open, and called `path`; both must outlive the questions.
  Reader(int object, std::string path, Rights rights, std::chrono::milliseconds patience,
         std::string debug_folder = "/usr/lib/debug")
      : object_(object),
        path_(std::move(path)),
        rights_(rights),
        patience_(patience),
        debug_folder_(std::move(debug_folder)) {}

  // Errors are sentences: ENODATA, there is no debugging information; ETIMEDOUT; EIO, it is damaged.
  //
  // What the expressions mean at that offset in the file; for a return, what was there at the entry.
  Result<std::vector<NamedValues>> values(std::uint64_t offset, bool is_return,
                                          const std::vector<std::string>& expressions) const;
  // ENOENT: there is no such file, or no code of that line.
  Result<LinePlaces> line(const std::string& file, unsigned number) const;
  // Why there is no function of that name: it was inlined; "": for no such reason.
  Result<std::string> why_no_function(const std::string& name) const;
  Result<std::vector<DescribedFunction>> functions() const;

 private:
  Result<std::string> ask(std::string_view question, const std::vector<std::string>& words) const;

  int object_;
  std::string path_;
  Rights rights_;
  std::chrono::milliseconds patience_;
  std::string debug_folder_;
};

// What a program's answer says, which is not trusted. Public for tests.
Result<std::vector<NamedValues>> parse_values(std::string_view answer, std::size_t count);
Result<LinePlaces> parse_places(std::string_view answer);
Result<std::vector<DescribedFunction>> parse_functions(std::string_view answer);

}  // namespace landtrace::dwarf
