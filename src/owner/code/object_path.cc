#include "code/object_path.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string_view>

namespace landtrace::code {
namespace {

namespace fs = std::filesystem;

void add_folders(std::string_view list, std::vector<std::string>& folders) {
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(':'), list.size());
    // An empty one would be this folder, which was looked into already.
    if (end != 0) folders.emplace_back(list.substr(0, end));
    list.remove_prefix(std::min(end + 1, list.size()));
  }
}

std::string_view from_environment(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string_view() : value;
}

std::vector<std::string> library_folders() {
  std::vector<std::string> folders;
  add_folders(from_environment("LD_LIBRARY_PATH"), folders);
  add_folders(
      "/lib/x86_64-linux-gnu:/usr/lib/x86_64-linux-gnu:/lib64:/usr/lib64:/usr/local/lib/x86_64-linux-gnu:"
      "/usr/local/lib64:/usr/local/lib:/lib:/usr/lib",
      folders);
  return folders;
}

std::vector<std::string> program_folders() {
  std::vector<std::string> folders;
  add_folders(from_environment("PATH"), folders);
  return folders;
}

bool is_file(const std::string& path) {
  std::error_code error;
  return fs::is_regular_file(path, error);
}

std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error))
    names.push_back(at->path().filename().string());
  return names;
}

std::optional<std::string> in_folders(const std::vector<std::string>& folders, const std::string& name) {
  for (const std::string& folder : folders) {
    if (const std::string path = folder + "/" + name; is_file(path)) return path;
  }
  return std::nullopt;
}

// NAME.so.6 for "NAME": of several the shortest, which is the one that programs ask for. NAME.so itself is for linkers,
// and may be a script.
std::optional<std::string> with_version(const std::vector<std::string>& folders, const std::string& name) {
  const std::string stem = name.ends_with(".so") ? name + "." : name + ".so.";
  for (const std::string& folder : folders) {
    std::vector<std::string> found;
    for (std::string& one : names_in(folder)) {
      const bool is_version = one.starts_with(stem) && one.size() > stem.size() &&
                              one.find_first_not_of("0123456789.", stem.size()) == one.npos;
      if (is_version && is_file(folder + "/" + one)) found.push_back(std::move(one));
    }
    std::sort(found.begin(), found.end(), [](const std::string& a, const std::string& b) {
      return a.size() != b.size() ? a.size() < b.size() : a > b;
    });
    if (!found.empty()) return folder + "/" + found.front();
  }
  return std::nullopt;
}

}  // namespace

Result<std::string> object_path(const std::string& name) {
  if (name.find('/') != name.npos || is_file(name)) return name;
  const std::vector<std::string> libraries = library_folders();
  if (auto path = with_version(libraries, name)) return *path;
  if (name.find(".so") != name.npos) {
    if (auto path = in_folders(libraries, name)) return *path;
  }
  if (auto path = in_folders(program_folders(), name)) return *path;
  return fail(ENOENT, "no file, library or program '" + name + "'");
}

std::vector<std::string> object_names() {
  std::vector<std::string> names;
  for (const std::string& folder : library_folders()) {
    for (std::string& name : names_in(folder)) {
      if (name.find(".so") != name.npos) names.push_back(std::move(name));
    }
  }
  for (const std::string& folder : program_folders()) {
    for (std::string& name : names_in(folder)) names.push_back(std::move(name));
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

}  // namespace landtrace::code
