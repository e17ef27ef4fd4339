// A small tree to mount in tests: one file of each kind that the adapter knows.
#pragma once

#include <sys/uio.h>

#include <atomic>
#include <cstring>
#include <deque>
#include <map>
#include <set>

#include "domain/domain.hpp"
#include "tracefs/event_data_file.hpp"
#include "tracefs/list_folder.hpp"
#include "tracefs/text_file.hpp"

namespace landtrace::fuse::test {

// Keeps what is written to it; notes how it was opened.
class Notebook : public tracefs::TextFile {
 public:
  Notebook() : TextFile(0640) {}
  std::string kept;
  std::vector<std::string> writes;
  tracefs::Caller last_caller;
  int truncations = 0;

 protected:
  Result<std::string> text() override { return kept; }
  Result<std::size_t> store(const tracefs::Caller& caller, std::string_view bytes) override {
    last_caller = caller;
    writes.emplace_back(bytes);
    kept += bytes;
    return bytes.size();
  }
  Result<void> truncate(const tracefs::Caller&) override {
    ++truncations;
    kept.clear();
    return {};
  }
};

// Takes a byte at a time until somebody has written to the notebook.
class Patient : public tracefs::TextFile {
 public:
  explicit Patient(std::shared_ptr<Notebook> notebook) : TextFile(0640), notebook_(std::move(notebook)) {}
  std::size_t turns = 0;

 protected:
  Result<std::size_t> store(const tracefs::Caller&, std::string_view bytes) override {
    ++turns;
    return notebook_->writes.empty() ? 1 : bytes.size();
  }
  [[nodiscard]] bool takes_turns() const override { return true; }

 private:
  std::shared_ptr<Notebook> notebook_;
};

// Its text is there when the test says so.
class Slow : public tracefs::TextFile {
 public:
  Slow() : TextFile(0440) {}
  bool is_there = false;
  int looks = 0;
  int alive = 0;

 protected:
  Result<std::string> begin_text(std::unique_ptr<tracefs::TextToCome>& to_come) override {
    class Text final : public tracefs::TextToCome {
     public:
      explicit Text(Slow& file) : file_(file) { ++file_.alive; }
      ~Text() override { --file_.alive; }
      [[nodiscard]] bool is_there() const override {
        ++file_.looks;
        return file_.is_there;
      }
      Result<std::string> take() override { return "at last"; }

     private:
      Slow& file_;
    };
    to_come = std::make_unique<Text>(*this);
    return std::string();
  }
};

// Fails with the errno that is written to it; ioctl() answers its argument.
class Failing : public tracefs::File {
 public:
  [[nodiscard]] unsigned mode() const override { return 0666; }
  Result<std::unique_ptr<tracefs::OpenFile>> open(const tracefs::Caller&, int) override {
    class Open : public tracefs::OpenFile {
      Result<std::size_t> write(const tracefs::Caller&, std::string_view bytes, std::uint64_t) override {
        return fail(std::atoi(std::string(bytes).c_str()), "as asked for");
      }
      Result<int> ioctl(const tracefs::Caller&, unsigned command, std::uint64_t argument) override {
        if (command == 7) return fail(static_cast<int>(argument), "as asked for");
        return command == 0 ? fail(ENOTTY) : Result<int>(static_cast<int>(argument & 0xffff));
      }
    };
    return std::make_unique<Open>();
  }
};

// What trace_pipe is: gives what was pushed, and takes it away.
class Pipe : public tracefs::File {
 public:
  [[nodiscard]] unsigned mode() const override { return 0440; }
  [[nodiscard]] bool is_stream() const override { return true; }
  std::deque<std::string> lines;
  int looks = 0;               // how often it was asked whether it is ready
  std::atomic<int> reads = 0;  // for other threads

  Result<std::unique_ptr<tracefs::OpenFile>> open(const tracefs::Caller&, int) override {
    class Open : public tracefs::OpenFile {
     public:
      explicit Open(Pipe& pipe) : pipe_(pipe) {}
      Result<std::size_t> read(const tracefs::Caller&, std::span<char> to, std::uint64_t) override {
        ++pipe_.reads;
        if (pipe_.lines.empty()) return fail(EAGAIN, "nothing yet");
        const std::string line = pipe_.lines.front().substr(0, to.size());
        pipe_.lines.pop_front();
        std::memcpy(to.data(), line.data(), line.size());
        return line.size();
      }
      short ready() override {
        ++pipe_.looks;
        return pipe_.lines.empty() ? 0 : POLLIN;
      }

     private:
      Pipe& pipe_;
    };
    return std::make_unique<Open>(*this);
  }
};

// What trace_pipe_raw is: pages by offset. `pages` is how many there are.
class RawPages : public tracefs::File {
 public:
  static constexpr std::size_t kPage = 4096;
  [[nodiscard]] unsigned mode() const override { return 0440; }
  [[nodiscard]] bool is_paged() const override { return true; }
  std::uint64_t pages = 0;
  int reads = 0;
  std::multiset<std::uint64_t> served;

  Result<std::unique_ptr<tracefs::OpenFile>> open(const tracefs::Caller&, int) override {
    class Open : public tracefs::OpenFile {
     public:
      explicit Open(RawPages& all) : all_(all), serial_(all.opened_++) {}
      Result<std::size_t> read(const tracefs::Caller&, std::span<char> to, std::uint64_t offset) override {
        ++all_.reads;
        if (offset / kPage >= all_.pages) return fail(EAGAIN, "nothing yet");
        all_.served.insert(offset / kPage);
        const std::uint64_t stamp[] = {offset / kPage, serial_};
        std::memset(to.data(), 0, std::min(to.size(), kPage));
        std::memcpy(to.data(), stamp, sizeof stamp);
        return std::min(to.size(), kPage);
      }
      Result<int> ioctl(const tracefs::Caller&, unsigned, std::uint64_t) override { return static_cast<int>(++wakes_); }
      short ready() override { return all_.pages > 0 ? POLLIN : 0; }
      [[nodiscard]] std::uint64_t wakes() const override { return wakes_; }

     private:
      RawPages& all_;
      std::uint64_t serial_;
      std::uint64_t wakes_ = 0;
    };
    return std::make_unique<Open>(*this);
  }

 private:
  std::uint64_t opened_ = 0;
};

// What user_events_status was: a text to read, a page to map.
class Status : public tracefs::TextFile {
 public:
  Status() : TextFile(0440) {}
  alignas(4096) std::array<std::byte, 4096> bytes{};
  [[nodiscard]] const std::byte* page() const override { return bytes.data(); }

 protected:
  Result<std::string> text() override { return "Active: 0\n"; }
};

// What user_events_mmap was: the domain's page of bytes, and nothing else.
class BytesPage : public tracefs::File {
 public:
  explicit BytesPage(domain::Domain& domain) : domain_(domain) {}
  [[nodiscard]] unsigned mode() const override { return 0440; }
  [[nodiscard]] const std::byte* page() const override { return domain_.status_pages().bytes(); }
  Result<std::unique_ptr<tracefs::OpenFile>> open(const tracefs::Caller&, int) override {
    return std::make_unique<tracefs::OpenFile>();
  }

 private:
  domain::Domain& domain_;
};

// What user_events_data is. Holding the domain, ioctl(8) takes so many milliseconds, ioctl(9) reads a byte of its
// caller's, and ioctl(10) takes until the test lets it go on (1), but a second at most (0).
class Data : public tracefs::File {
 public:
  explicit Data(domain::Domain& domain) : domain_(domain) {}
  [[nodiscard]] unsigned mode() const override { return 0660; }
  [[nodiscard]] bool is_event_data() const override { return true; }
  domain::FileId last;
  std::atomic<bool> is_held = false;  // by an ioctl(10)
  std::atomic<bool> may_go_on = false;

  Result<std::unique_ptr<tracefs::OpenFile>> open(const tracefs::Caller& caller, int) override {
    class Open : public tracefs::EventDataFile {
     public:
      Open(Data& data, domain::FileId id) : data_(data), id_(id) {}
      ~Open() override { data_.domain_.files().close(id_); }
      [[nodiscard]] domain::FileId id() const override { return id_; }
      Result<int> ioctl(const tracefs::Caller& caller, unsigned command, std::uint64_t argument) override {
        if (command == 9) {
          unsigned char byte = 0;
          const iovec here{&byte, 1};
          const iovec there{reinterpret_cast<void*>(argument), 1};
          const ssize_t got = ::process_vm_readv(static_cast<pid_t>(caller.tid), &here, 1, &there, 1, 0);
          return got == 1 ? Result<int>(byte) : fail(errno, "as the kernel says");
        }
        if (command == 10) return wait();
        if (argument != 0) ::usleep(static_cast<unsigned>(argument * 1000));
        return 0;
      }

     private:
      int wait() {
        data_.is_held = true;
        for (int i = 0; i < 1000 && !data_.may_go_on; ++i) ::usleep(1000);
        return data_.may_go_on ? 1 : 0;
      }

      Data& data_;
      domain::FileId id_;
    };
    LT_TRY(last, domain_.registrar().open_file(caller.who.uid));
    return std::make_unique<Open>(*this, last);
  }

 private:
  domain::Domain& domain_;
};

// What instances is.
class Instances : public tracefs::Folder {
 public:
  std::map<std::string, std::shared_ptr<tracefs::ListFolder>, std::less<>> made;

  Result<std::vector<Entry>> list() override {
    std::vector<Entry> entries;
    for (const auto& [name, node] : made) entries.push_back({name, true});
    return entries;
  }
  Result<std::shared_ptr<tracefs::Node>> find(std::string_view name) override {
    const auto found = made.find(name);
    if (found == made.end()) return fail(ENOENT, "no such instance");
    return found->second;
  }
  Result<void> make_folder(std::string_view name, const tracefs::Caller&) override {
    auto folder = std::make_shared<tracefs::ListFolder>();
    folder->add<Notebook>("trace");
    if (!made.emplace(name, std::move(folder)).second) return fail(EEXIST, "is there");
    return {};
  }
  Result<void> remove_folder(std::string_view name, const tracefs::Caller&) override {
    if (name == "busy") return fail(EBUSY, "in use");
    return made.erase(std::string(name)) == 1 ? Result<void>() : fail(ENOENT, "no such instance");
  }
};

struct TestTree {
  explicit TestTree(domain::Domain& domain) {
    notebook = root->add<Notebook>("notebook");
    patient = root->add<Patient>("patient", notebook);
    slow = root->add<Slow>("slow");
    failing = root->add<Failing>("failing");
    pipe = root->add<Pipe>("pipe");
    raw = root->add<RawPages>("raw");
    data = root->add<Data>("data", domain);
    instances = root->add<Instances>("instances");
  }
  std::shared_ptr<tracefs::ListFolder> root = std::make_shared<tracefs::ListFolder>();
  std::shared_ptr<Notebook> notebook;
  std::shared_ptr<Patient> patient;
  std::shared_ptr<Slow> slow;
  std::shared_ptr<Failing> failing;
  std::shared_ptr<Pipe> pipe;
  std::shared_ptr<RawPages> raw;
  std::shared_ptr<Data> data;
  std::shared_ptr<Instances> instances;
};

}  // namespace landtrace::fuse::test
