// Replaces parts of an XML text, keeping its lines.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace costate {

class TextEditor {
public:
    explicit TextEditor(const std::string& text) : text_(text) {}
    // Goes to the next start tag: those of the elements of the document, in their order.
    void next() {
        for (at_ = text_.find('<', at_); at_ != std::string::npos; at_ = text_.find('<', at_)) {
            const std::string_view rest = std::string_view(text_).substr(at_);
            if (skip(rest, "<!--", "-->") || skip(rest, "<![CDATA[", "]]>") || skip(rest, "<?", "?>") ||
                skip(rest, "</", ">"))
                continue;
            tag_ = at_;
            at_ = end_of_tag(tag_);
            return;
        }
        at_ = tag_ = text_.size();
    }
    // Of the tag: the value of an attribute that is there, and the text that follows it
    void set_attribute(const std::string& attribute, const std::string& value) {
        size_t at = text_.find(attribute, tag_);
        while (at < at_ && std::string_view(" \t\r\n").find(text_[at - 1]) == std::string_view::npos)
            at = text_.find(attribute, at + 1);
        if (at >= at_) return;
        const size_t quote = text_.find_first_of("\"'", at), before = text_.size();
        replace(quote + 1, text_.find(text_[quote], quote + 1), value);
        at_ += text_.size() - before;
    }
    void set_text(const std::string& value) {
        replace(at_, std::min(text_.find('<', at_), text_.size()), value);
    }
    const std::string& text() const { return text_; }

private:
    bool skip(std::string_view rest, std::string_view begin, std::string_view end) {
        if (!rest.starts_with(begin)) return false;
        const size_t found = rest.find(end, begin.size());
        at_ = found == std::string_view::npos ? text_.size() : at_ + found + end.size();
        return true;
    }
    size_t end_of_tag(size_t at) const {
        for (char quote = 0; at < text_.size(); ++at) {
            const char c = text_[at];
            if (quote == 0 && c == '>') return at + 1;
            if (quote == 0 && (c == '"' || c == '\''))
                quote = c;
            else if (c == quote)
                quote = 0;
        }
        return at;
    }
    void replace(size_t begin, size_t end, std::string value) {
        value.append(std::count(text_.begin() + begin, text_.begin() + end, '\n'), '\n');
        text_.replace(begin, end - begin, value);
    }
    std::string text_;
    size_t at_ = 0, tag_ = 0;
};

}  // namespace costate
