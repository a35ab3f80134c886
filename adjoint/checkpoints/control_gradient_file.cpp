#include "adjoint/checkpoints/control_gradient_file.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace costate {

namespace {

constexpr size_t rows_at_once = 256;

// A header of version 1.0 of the format, padded to a multiple of 64 bytes.
std::string npy_header(int steps, size_t nu) {
    std::string text = "{'descr': '<f8', 'fortran_order': False, 'shape': (" + std::to_string(steps) + ", " +
                       std::to_string(nu) + "), }";
    text.resize((10 + text.size() + 1 + 63) / 64 * 64 - 11, ' ');
    text += '\n';
    return std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(text.size() & 255) +
           static_cast<char>(text.size() >> 8) + text;
}

}  // namespace

ControlGradientFile::ControlGradientFile(std::filesystem::path path, int steps, int nu, bool stays,
                                         bool resumes)
    : path_(std::move(path)),
      part_(path_.string() + ".part"),
      lock_(path_),
      nu_(nu),
      stays_(stays),
      rows_(rows_at_once * nu_) {
    const std::string header = npy_header(steps, nu_);
    header_ = header.size();
    std::error_code ignored;
    // the file is already finished: continue with its ".part"
    if (resumes && !std::filesystem::exists(part_)) std::filesystem::rename(path_, part_, ignored);
    file_ = std::make_unique<DiskFile>(part_, resumes ? DiskFile::Mode::open : DiskFile::Mode::create);
    if (!resumes) {
        try {
            file_->write(0, header.data(), header.size());
        } catch (...) {
            std::filesystem::remove(part_, ignored);
            throw;
        }
        return;
    }
    std::string found(std::min(header_, static_cast<size_t>(file_->size())), ' ');
    file_->read(0, found.data(), found.size());
    if (found == header) return;
    throw std::runtime_error("cannot resume with '" + part_.string() +
                             "': its header is not that of an array of " + std::to_string(steps) + " x " +
                             std::to_string(nu) + " numbers; start the run again");
}

ControlGradientFile::~ControlGradientFile() {
    std::error_code ignored;
    if (file_ && !stays_) std::filesystem::remove(part_, ignored);
}

void ControlGradientFile::row(int t, const double* u_bar) {
    used_ += nu_;
    first_ = t;
    std::copy_n(u_bar, nu_, rows_.end() - static_cast<std::ptrdiff_t>(used_));
    if (used_ == rows_.size()) write_rows();
}

void ControlGradientFile::write_rows() {
    if (used_ == 0) return;
    const auto at = static_cast<std::int64_t>(header_ + static_cast<size_t>(first_) * nu_ * sizeof(double));
    file_->write(at, rows_.data() + (rows_.size() - used_), used_ * sizeof(double));
    used_ = 0;
}

void ControlGradientFile::flush() {
    write_rows();
    file_->sync();
}

void ControlGradientFile::finish() {
    flush();
    std::error_code error;
    std::filesystem::rename(part_, path_, error);
    if (error) throw std::runtime_error("cannot write '" + path_.string() + "': " + error.message());
    file_.reset();
}

}  // namespace costate
