// For tests: a program that uses the files of a tree, by the commands of the transcripts (tests/conformance/conform),
// in this process and without a mount.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tracefs/tree.hpp"
#include "tracefs/user_events/data.hpp"

namespace landtrace::tracefs {

class TestSession {
 public:
  explicit TestSession(const domain::Domain::Options& options = {})
      : domain_(*domain::Domain::create(options)), tree_(*domain_, rules_) {}

  ~TestSession() { clean(); }
  // Takes back what the commands so far have done.
  void clean();

  // What the command prints, errors as -ENAME; nothing for a command that the session does not know.
  std::optional<std::string> run(const std::vector<std::string>& command);
  // The same for a line whose words have no spaces in them.
  std::string operator()(const std::string& line);

  std::string put(const std::string& file, std::string_view text) {
    return write(file, std::string(text) + '\n', O_TRUNC);
  }
  std::string append(const std::string& file, std::string_view text) {
    return write(file, std::string(text) + '\n', 0);
  }
  std::string write(const std::string& file, std::string_view bytes, int flags);
  std::string cat(const std::string& file);
  std::string list(const std::string& folder);

  [[nodiscard]] domain::Domain& domain() { return *domain_; }
  [[nodiscard]] Tree& tree() { return tree_; }
  [[nodiscard]] static Caller caller();

 private:
  void remove_triggers(const std::string& file);
  struct Registration {
    std::string file;
    std::uint32_t index = 0;
  };
  struct Options {
    std::vector<std::string> words;
    std::map<std::string, std::string> named;

    [[nodiscard]] std::string get(const std::string& name, const std::string& otherwise) const;
    [[nodiscard]] unsigned number(const std::string& name, unsigned otherwise) const;
  };
  static Options options_of(const std::vector<std::string>& command);
  Result<OpenUserEventsData*> data_file(const std::string& name);
  std::uint64_t& word(const std::string& name) { return words_[name]; }
  std::string reg(const Options& options);
  std::string unreg(const Options& options);
  std::string emit(const std::vector<std::string>& command);
  std::string make_folder(const std::string& path, bool make);
  std::string mode(const std::string& path);
  std::string events_in(const std::string& file);
  std::string text_of(const std::string& file);

  std::unique_ptr<domain::Domain> domain_;
  rules::Rules rules_{*domain_};
  Tree tree_;
  std::map<std::string, std::unique_ptr<OpenFile>> files_;
  std::map<std::string, std::uint64_t> words_;
  std::map<std::string, Registration> registrations_;
  std::vector<programs::EnableBit> bits_;
};

}  // namespace landtrace::tracefs
