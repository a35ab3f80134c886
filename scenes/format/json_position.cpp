#include "scenes/format/json_position.hpp"

#include <nlohmann/json.hpp>

namespace costate {
namespace {

// Walks over well-formed JSON.
class JsonScanner {
public:
    explicit JsonScanner(const std::string& text) : text_(text) {}

    std::optional<size_t> find(const std::vector<std::string>& tokens) {
        std::optional<size_t> key;
        for (const std::string& token : tokens) {
            const bool found =
                next() == '{' ? enter_member(token, key) : next() == '[' && enter_item(token, key);
            if (!found) return {};
        }
        return key ? *key : (next(), at_);
    }

private:
    // The next character that is neither space nor part of a comment; 0 at the end. It is not passed.
    char next() {
        for (; at_ < text_.size(); ++at_) {
            if (text_.compare(at_, 2, "//") == 0)
                at_ = std::min(text_.find('\n', at_), text_.size() - 1);
            else if (text_.compare(at_, 2, "/*") == 0)
                at_ = std::min(text_.find("*/", at_ + 2), text_.size() - 1) + 1;
            else if (std::string_view(" \t\r\n\xEF\xBB\xBF").find(text_[at_]) == std::string_view::npos)
                return text_[at_];
        }
        return 0;
    }
    std::string string() {
        const size_t begin = at_++;
        while (at_ < text_.size() && text_[at_] != '"')
            at_ += text_[at_] == '\\' ? 2 : 1;
        ++at_;
        const auto value = nlohmann::json::parse(text_.substr(begin, at_ - begin), nullptr, false);
        return value.is_string() ? value.get<std::string>() : "";
    }
    void skip_value() {
        int depth = 0;
        do {
            const char c = next();
            if (c == 0) return;
            if (c == '"') {
                string();
            } else if (std::string_view("{[").find(c) != std::string_view::npos) {
                ++depth;
                ++at_;
            } else if (std::string_view("}]").find(c) != std::string_view::npos) {
                --depth;
                ++at_;
            } else if (std::string_view(",:").find(c) != std::string_view::npos) {
                ++at_;
            } else {
                at_ = std::min(text_.find_first_of(" \t\r\n,:{}[]\"/", at_ + 1), text_.size());
            }
        } while (depth > 0);
    }
    // Moves to the value of a member of the object that is next.
    bool enter_member(const std::string& wanted, std::optional<size_t>& key) {
        for (++at_; next() == '"'; skip_item()) {
            key = at_;
            const bool found = string() == wanted;
            if (next() == ':') ++at_;
            if (found) return true;
        }
        return false;
    }
    // Moves to an item of the array that is next.
    bool enter_item(const std::string& wanted, std::optional<size_t>& key) {
        size_t index = 0;
        for (++at_; next() != ']' && next() != 0; skip_item())
            if (std::to_string(index++) == wanted) {
                key = at_;
                return true;
            }
        return false;
    }
    // Skips a value and the comma behind it.
    void skip_item() {
        skip_value();
        if (next() == ',') ++at_;
    }

    const std::string& text_;
    size_t at_ = 0;
};

}  // namespace

TextPosition text_position(const std::string& text, size_t offset) {
    TextPosition p;
    for (size_t i = 0; i < std::min(offset, text.size()); ++i)
        text[i] == '\n' ? void((++p.line, p.column = 1)) : void(++p.column);
    return p;
}

std::optional<TextPosition> json_position(const std::string& text, const std::vector<std::string>& tokens) {
    const std::optional<size_t> offset = JsonScanner(text).find(tokens);
    return offset ? std::optional(text_position(text, *offset)) : std::nullopt;
}

}  // namespace costate
