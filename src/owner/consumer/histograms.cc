#include "consumer/histograms.hpp"

namespace landtrace::consumer {

Result<std::vector<ipc::HistogramTable>> gather_histograms(
    const std::function<Result<ipc::Answer>(std::uint64_t)>& ask) {
  std::string bytes;
  for (;;) {
    LT_TRY(const ipc::Answer answer, ask(bytes.size()));
    bytes += answer.text;
    const bool is_sound =
        !answer.text.empty() && answer.reply.a >= bytes.size() && answer.reply.a <= kMaxHistogramBytes;
    if (!is_sound) return fail(EPROTO, "the owner of the domain tells of histograms without an end");
    if (bytes.size() == answer.reply.a) return ipc::decode_histograms(bytes);
  }
}

}  // namespace landtrace::consumer
