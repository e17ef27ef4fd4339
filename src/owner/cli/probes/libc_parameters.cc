#include "cli/probes/libc_parameters.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace landtrace::cli {
namespace {

struct Function {
  std::string_view name;
  // One each, behind a letter for what it is: i an int, u an unsigned word, l a signed one, p a pointer, s a text.
  std::string_view parameters;
};

constexpr Function kFunctions[] = {
    {"accept", "i:sockfd p:addr p:addrlen"},
    {"access", "s:pathname i:mode"},
    {"aligned_alloc", "u:alignment u:size"},
    {"bind", "i:sockfd p:addr i:addrlen"},
    {"calloc", "u:nmemb u:size"},
    {"chdir", "s:path"},
    {"chmod", "s:pathname i:mode"},
    {"close", "i:fd"},
    {"connect", "i:sockfd p:addr i:addrlen"},
    {"creat", "s:pathname i:mode"},
    {"dup2", "i:oldfd i:newfd"},
    {"epoll_wait", "i:epfd p:events i:maxevents i:timeout"},
    {"execve", "s:pathname p:argv p:envp"},
    {"exit", "i:status"},
    {"fclose", "p:stream"},
    {"fopen", "s:pathname s:mode"},
    {"fputs", "s:s p:stream"},
    {"fread", "p:ptr u:size u:nmemb p:stream"},
    {"free", "p:ptr"},
    {"fsync", "i:fd"},
    {"ftruncate", "i:fd l:length"},
    {"fwrite", "p:ptr u:size u:nmemb p:stream"},
    {"getenv", "s:name"},
    {"ioctl", "i:fd u:request u:arg"},
    {"kill", "i:pid i:sig"},
    {"listen", "i:sockfd i:backlog"},
    {"lseek", "i:fd l:offset i:whence"},
    {"malloc", "u:size"},
    {"memchr", "p:s i:c u:n"},
    {"memcmp", "p:s1 p:s2 u:n"},
    {"memcpy", "p:dest p:src u:n"},
    {"memmove", "p:dest p:src u:n"},
    {"memset", "p:s i:c u:n"},
    {"mkdir", "s:pathname i:mode"},
    {"mmap", "p:addr u:length i:prot i:flags i:fd l:offset"},
    {"mprotect", "p:addr u:len i:prot"},
    {"munmap", "p:addr u:length"},
    {"open", "s:pathname i:flags i:mode"},
    {"open64", "s:pathname i:flags i:mode"},
    {"openat", "i:dirfd s:pathname i:flags i:mode"},
    {"opendir", "s:name"},
    {"poll", "p:fds u:nfds i:timeout"},
    {"posix_memalign", "p:memptr u:alignment u:size"},
    {"pread", "i:fd p:buf u:count l:offset"},
    {"pthread_cond_wait", "p:cond p:mutex"},
    {"pthread_create", "p:thread p:attr p:start_routine p:arg"},
    {"pthread_mutex_lock", "p:mutex"},
    {"pthread_mutex_unlock", "p:mutex"},
    {"puts", "s:s"},
    {"pwrite", "i:fd p:buf u:count l:offset"},
    {"read", "i:fd p:buf u:count"},
    {"readlink", "s:pathname p:buf u:bufsiz"},
    {"realloc", "p:ptr u:size"},
    {"reallocarray", "p:ptr u:nmemb u:size"},
    {"recv", "i:sockfd p:buf u:len i:flags"},
    {"recvfrom", "i:sockfd p:buf u:len i:flags p:src_addr p:addrlen"},
    {"rename", "s:oldpath s:newpath"},
    {"rmdir", "s:pathname"},
    {"send", "i:sockfd p:buf u:len i:flags"},
    {"sendto", "i:sockfd p:buf u:len i:flags p:dest_addr i:addrlen"},
    {"setenv", "s:name s:value i:overwrite"},
    {"socket", "i:domain i:type i:protocol"},
    {"stat", "s:pathname p:statbuf"},
    {"strchr", "s:s i:c"},
    {"strcmp", "s:s1 s:s2"},
    {"strcpy", "p:dest s:src"},
    {"strdup", "s:s"},
    {"strlen", "s:s"},
    {"strncmp", "s:s1 s:s2 u:n"},
    {"strstr", "s:haystack s:needle"},
    {"system", "s:command"},
    {"unlink", "s:pathname"},
    {"usleep", "u:usec"},
    {"waitpid", "i:pid p:wstatus i:options"},
    {"write", "i:fd p:buf u:count"},
};

bool is_libc(std::string_view path) {
  const std::string_view file = path.substr(path.rfind('/') + 1);
  return file == "libc.so.6" || (file.starts_with("libc-") && file.ends_with(".so"));
}

std::string fetched(char kind, int place) {
  switch (kind) {
    case 'i':
      return fmt::format("$arg{}:s32", place);
    case 'u':
      return fmt::format("$arg{}:u64", place);
    case 'l':
      return fmt::format("$arg{}:s64", place);
    case 's':
      return fmt::format("+0($arg{}):string", place);
    default:
      return fmt::format("$arg{}:x64", place);
  }
}

// Takes the first word off.
std::string_view next_word(std::string_view& text) {
  const std::string_view word = text.substr(0, text.find(' '));
  text.remove_prefix(std::min(text.size(), word.size() + 1));
  return word;
}

}  // namespace

std::string libc_parameter(std::string_view path, std::string_view function, std::string_view parameter) {
  if (!is_libc(path)) return "";
  const auto found = std::find_if(std::begin(kFunctions), std::end(kFunctions), [function](const Function& each) {
    return each.name == function.substr(0, function.find('@'));
  });
  if (found == std::end(kFunctions)) return "";
  std::string_view rest = found->parameters;
  for (int place = 1; !rest.empty(); ++place) {
    const std::string_view word = next_word(rest);
    if (word.substr(2) == parameter) return fetched(word[0], place);
  }
  return "";
}

std::string with_libc_parameters(std::string_view path, std::string_view function, std::string_view arguments) {
  std::string all;
  while (!arguments.empty()) {
    const std::string_view word = next_word(arguments);
    const std::string fetch = libc_parameter(path, function, word);
    all += fmt::format("{}{}{}{}", all.empty() ? "" : " ", word, fetch.empty() ? "" : "=", fetch);
  }
  return all;
}

}  // namespace landtrace::cli
