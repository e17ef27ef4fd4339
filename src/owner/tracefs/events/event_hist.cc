#include "tracefs/events/event_hist.hpp"

#include "tracefs/context.hpp"
#include "tracefs/events/address_names.hpp"

namespace landtrace::tracefs {
namespace {

class HistogramToCome final : public TextToCome {
 public:
  explicit HistogramToCome(std::unique_ptr<rules::LongReads::Awaited> text) : text_(std::move(text)) {}
  [[nodiscard]] bool is_there() const override { return text_->is_there(); }
  Result<std::string> take() override { return text_->take(); }

 private:
  std::unique_ptr<rules::LongReads::Awaited> text_;
};

}  // namespace

Result<std::string> EventHist::begin_text(std::unique_ptr<TextToCome>& to_come) {
  LT_TRY(const domain::Event* const event, event_.get());
  LT_TRY(const domain::Instance* const instance, event_.instance->get());
  Context& context = event_.instance->context;
  auto names = std::make_unique<ProducerNames>(context.domain.users(), context.rules.functions());
  rules::HistogramReading reading = context.rules.histograms().reading(*instance, *event);
  if (!reading.is_long()) return rules::text_of(reading, *names);
  to_come = std::make_unique<HistogramToCome>(context.rules.long_reads().begin(
      rules::source_of(context.domain, std::move(reading), std::move(names), rules::text_of)));
  return std::string();
}

}  // namespace landtrace::tracefs
