// The events of a recording.
#pragma once

#include "output/trace_dat/reader.hpp"
#include "reader/loss_count.hpp"
#include "reader/source.hpp"

namespace landtrace::reader {

class FileSource : public Source {
 public:
  // EINVAL: the filter fits no event of the recording. Else what output::TraceDatReader::open() says.
  static Result<std::unique_ptr<FileSource>> open(const std::string& path, Choice choice);
  // Goes on as long as the recording is written. That the filter fits no event is an error at the end, which may be
  // far off.
  static Result<std::unique_ptr<FileSource>> follow(const std::string& path, Choice choice);

  Result<Answer> next(Event& event) override;
  [[nodiscard]] std::uint64_t lost_so_far() const override { return lost_; }
  [[nodiscard]] const std::string& clock() const override { return reader_.clock(); }
  [[nodiscard]] std::optional<std::int64_t> wall_offset_ns() const override { return reader_.wall_offset_ns(); }
  std::vector<output::MappedObject> take_objects() override;

 private:
  FileSource(output::TraceDatReader reader, Choice choice);
  [[nodiscard]] bool wants(const Event& event) const;
  void know_types();
  void add_lost(std::uint64_t count);
  Result<Answer> look_again();
  Result<Answer> end();

  output::TraceDatReader reader_;
  Choice choice_;
  LossCount loss_;
  std::uint64_t lost_ = 0;
  std::vector<std::uint64_t> lost_before_;  // of each CPU, before its next event that is wanted
  bool grows_ = false;
  std::uint64_t next_look_ns_ = 0;
  bool has_ended_ = false;
  std::size_t objects_taken_ = 0;
};

}  // namespace landtrace::reader
