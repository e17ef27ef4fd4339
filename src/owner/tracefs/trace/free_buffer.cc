#include "tracefs/trace/free_buffer.hpp"

namespace landtrace::tracefs {
namespace {

class OpenFreeBuffer : public OpenFile {
 public:
  explicit OpenFreeBuffer(std::shared_ptr<TraceInstance> instance) : instance_(std::move(instance)) {}
  ~OpenFreeBuffer() override {
    domain::Instance* const instance = instance_->instance();
    if (instance == nullptr) return;
    if (instance_->options()[TraceOption::kDisableOnFree]) instance_->domain.instances().set_tracing(*instance, false);
    instance_->buffer.main()->clear(buffer::kAllCpus);
    std::ignore = instance_->buffer.resize(buffer::kAllCpus, 0);
  }
  // Writes have no effect.
  Result<std::size_t> write(const Caller&, std::string_view bytes, std::uint64_t) override { return bytes.size(); }

 private:
  std::shared_ptr<TraceInstance> instance_;
};

}  // namespace

Result<std::unique_ptr<OpenFile>> FreeBuffer::open(const Caller&, int) {
  LT_CHECK(instance_->get());
  return std::make_unique<OpenFreeBuffer>(instance_);
}

}  // namespace landtrace::tracefs
