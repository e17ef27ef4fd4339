#include "cli/full_path.hpp"

#include <filesystem>

namespace landtrace::cli {

std::string full_path(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code error;
  fs::path whole = fs::absolute(path, error).lexically_normal();
  if (!whole.has_filename()) whole = whole.parent_path();  // a slash at the end
  const fs::path resolved = fs::weakly_canonical(whole, error);
  if (!error) return resolved.string();
  const fs::path folder = fs::weakly_canonical(whole.parent_path(), error);
  return (error ? whole : folder / whole.filename()).string();
}

}  // namespace landtrace::cli
