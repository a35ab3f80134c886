// Bytes out of objects and back. A class says once what it consists of, for both directions:
//     template <class Archive> void transfer(Archive& a) { a(steps_), a(states_); }
// Numbers, structs of numbers, vectors of either, and text; the bytes are of this machine and this build. A
// reader throws std::runtime_error where the bytes do not hold what is asked for; classes check in `transfer`
// what else they rely on.
#pragma once

#include <cstring>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "core/math/linalg.hpp"

namespace costate {

class ArchiveWriter {
public:
    template <class T> void operator()(const T& value) requires std::is_trivially_copyable_v<T> {
        append(&value, sizeof value);
    }
    template <class T> void operator()(const std::vector<T>& v) { sized(v.data(), v.size()); }
    template <class T> void operator()(const VecX<T>& v) { sized(v.data(), static_cast<size_t>(v.size())); }
    void operator()(const std::string& s) { sized(s.data(), s.size()); }
    template <class V> void of_known_size(const V& v) { (*this)(v); }
    std::vector<char> bytes;

private:
    template <class T> void sized(const T* data, size_t n) {
        static_assert(std::is_trivially_copyable_v<T>);
        append(&n, sizeof n);
        append(data, n * sizeof(T));
    }
    void append(const void* from, size_t n) {
        const char* const begin = static_cast<const char*>(from);
        bytes.insert(bytes.end(), begin, begin + n);
    }
};

class ArchiveReader {
public:
    explicit ArchiveReader(const std::vector<char>& bytes) : at_(bytes.data()), end_(at_ + bytes.size()) {}
    template <class T> void operator()(T& value) requires std::is_trivially_copyable_v<T> {
        take(&value, sizeof value);
    }
    void operator()(bool& value) {
        unsigned char byte = 0;
        take(&byte, sizeof byte);
        if (byte > 1) throw std::runtime_error("it holds " + std::to_string(byte) + " where 0 or 1 is due");
        value = byte == 1;
    }
    template <class T> void operator()(std::vector<T>& v) {
        v.resize(size(sizeof(T)));
        take(v.data(), v.size() * sizeof(T));
    }
    template <class T> void operator()(VecX<T>& v) {
        v.resize(static_cast<Eigen::Index>(size(sizeof(T))));
        take(v.data(), static_cast<size_t>(v.size()) * sizeof(T));
    }

    void operator()(std::string& s) {
        s.resize(size(1));
        take(s.data(), s.size());
    }
    // A vector whose size the reader has and the writer must have had.
    template <class V> void of_known_size(V& v) {
        const auto due = v.size();
        (*this)(v);
        if (v.size() != due)
            throw std::runtime_error("it holds " + std::to_string(v.size()) + " numbers where " +
                                     std::to_string(due) + " are due");
    }
    bool at_end() const { return at_ == end_; }

private:
    size_t size(size_t each) {
        size_t n = 0;
        take(&n, sizeof n);
        if (n > static_cast<size_t>(end_ - at_) / each) throw std::runtime_error("it ends too early");
        return n;
    }
    void take(void* to, size_t n) {
        if (n > static_cast<size_t>(end_ - at_)) throw std::runtime_error("it ends too early");
        if (n > 0) std::memcpy(to, at_, n);
        at_ += n;
    }
    const char *at_, *end_;
};

}  // namespace costate
