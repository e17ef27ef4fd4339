// Names of C++ functions for a line of text.
#pragma once

#include <string>
#include <string_view>

namespace landtrace::symbols {

// A demangled name as it is, if it is short; else without template arguments, and if it must be without parameters:
//   landtrace::Event<...>::emit(unsigned int)
//   std::_Rb_tree<...>::_M_insert_(...)
std::string short_name(std::string_view name);

// How people write the function that has a linker's name: "ns::f(int, char) const", without what it returns.
class WrittenName {
 public:
  explicit WrittenName(std::string_view linked);
  [[nodiscard]] const std::string& whole() const { return whole_; }
  // "ns::f"; of C the name, without a version.
  [[nodiscard]] std::string_view plain() const { return std::string_view(whole_).substr(0, plain_size_); }
  // Without parameters, with them, or with what stands behind them, too; spaces do not count.
  [[nodiscard]] bool is(std::string_view text) const;

 private:
  std::string whole_;
  std::size_t plain_size_;
  std::size_t parameters_end_;
};

}  // namespace landtrace::symbols
