// Changes of a text that is XML or JSON which leave it one more often than libFuzzer's own do: numbers become
// extreme, quoted texts change places, lines come twice or not at all.
#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

namespace {

struct Span {
    std::size_t begin, end;
};

constexpr const char* extremes[] = {"0",
                                    "-0",
                                    "1",
                                    "-1",
                                    "2",
                                    "0.5",
                                    "1e-3",
                                    "1e-9",
                                    "1e-160",
                                    "1e-308",
                                    "4e-324",
                                    "1e9",
                                    "1e30",
                                    "1e160",
                                    "1e308",
                                    "-1e308",
                                    "1e999",
                                    "nan",
                                    "inf",
                                    "6",
                                    "7",
                                    "100",
                                    "10000",
                                    "2147483647",
                                    "1e5",
                                    "3.141592653589793",
                                    "-1.5707963267948966",
                                    "4294967296",
                                    "1e19"};

class Text {
public:
    explicit Text(std::string text) : text_(std::move(text)) {
        for (std::size_t i = 0, line = 0, quote = std::string::npos; i < text_.size(); ++i) {
            const char c = text_[i];
            if (is_number(c) && (i == 0 || !is_number(text_[i - 1]))) {
                std::size_t end = i;
                while (end < text_.size() && (is_number(text_[end]) || text_[end] == 'e'))
                    ++end;
                if (std::any_of(&text_[i], &text_[end - 1] + 1, [](char d) { return d >= '0' && d <= '9'; }))
                    numbers_.push_back({i, end});
            }
            if (c == '"' && quote != std::string::npos) {
                quoted_.push_back({quote + 1, i});
                quote = std::string::npos;
            } else if (c == '"')
                quote = i;
            if (c == '\n' || (c == '>' && i + 1 < text_.size() && text_[i + 1] == '<')) {
                lines_.push_back({line, i + 1});
                line = i + 1;
            }
        }
    }

    std::string changed(std::minstd_rand& random) const {
        const auto any = [&](const auto& items) { return items[random() % std::size(items)]; };
        std::string out = text_;
        const auto put = [&](const Span& at, const std::string& what) {
            out.replace(at.begin, at.end - at.begin, what);
        };
        const auto get = [&](const Span& at) { return text_.substr(at.begin, at.end - at.begin); };
        const auto what = random() % 6;
        if (what < 2 && !numbers_.empty())
            put(any(numbers_), any(extremes));
        else if (what == 2 && !numbers_.empty())
            put(any(numbers_), get(any(numbers_)));
        else if (what == 3 && !quoted_.empty())
            put(any(quoted_), get(any(quoted_)));
        else if (what == 4 && !lines_.empty())
            put(any(lines_), "");
        else if (!lines_.empty())
            out.insert(any(lines_).begin, get(any(lines_)));
        return out;
    }

private:
    static bool is_number(char c) { return (c >= '0' && c <= '9') || c == '-' || c == '.'; }

    std::string text_;
    std::vector<Span> numbers_, quoted_, lines_;
};

}  // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size,
                                               unsigned seed) {
    std::minstd_rand random(seed);
    random.discard(2);
    if (random() % 3 == 0 || std::find(data, data + size, 0) != data + size)  // no text
        return LLVMFuzzerMutate(data, size, max_size);
    std::string text(reinterpret_cast<const char*>(data), size);
    for (auto n = random() % 3 + 1; n > 0; --n)
        text = Text(text).changed(random);
    size = std::min(text.size(), max_size);
    std::copy_n(text.begin(), size, data);
    return size;
}
