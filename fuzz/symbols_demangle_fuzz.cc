// Input: a C++ linker's name without its _Z. Whatever it is, its text has no more bytes than is said, or it stays as it
// is.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "symbols/symbols.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string name = "_Z" + std::string(reinterpret_cast<const char*>(data), size);
  const std::string text = landtrace::symbols::demangle(name);
  if (text.size() > 32'768 && text != name.substr(0, name.find('@'))) std::abort();
  return 0;
}
