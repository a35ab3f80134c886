// What a thread steps in, and where several callers share such workspaces: they grow with the contacts that
// they meet, and are kept for the next caller.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "solvers/sensors/sensors.hpp"
#include "solvers/step/lane_step.hpp"
#include "solvers/step/tangent_step.hpp"

namespace costate {

// One thread at a time has it.
struct Workspace {
    StepScratch<double> step;
    SensorScratch<double> sensors;
    VecX<double> x, x_next;  // (nx)
    explicit Workspace(const World& w) : step(w), sensors(w), x(w.nx()), x_next(w.nx()) {}

    // Made where it is first asked for.
    TangentStep& tangent_step(const World& w) {
        if (!tangent_) tangent_.emplace(w);
        return *tangent_;
    }

    // Steps in lanes, made where they are first asked for; null where there are none.
    LaneStep* lane_step(const World& w) {
        if (!asked_for_lanes_) lanes_ = make_lane_step(w);
        asked_for_lanes_ = true;
        return lanes_.get();
    }

private:
    std::optional<TangentStep> tangent_;
    std::unique_ptr<LaneStep> lanes_;
    bool asked_for_lanes_ = false;
};

// Workspaces of a world that nobody has now: as many as were ever taken at once. Any thread may call.
class WorkspacePool {
public:
    explicit WorkspacePool(const World& world) : world_(world) {}  // which must outlive the pool

    // One that was given back, or a new one.
    std::unique_ptr<Workspace> take() {
        {
            const std::lock_guard lock(mutex_);
            if (!idle_.empty()) {
                std::unique_ptr<Workspace> workspace = std::move(idle_.back());
                idle_.pop_back();
                return workspace;
            }
            idle_.reserve(++made_);  // so that giving it back cannot fail
        }
        return std::make_unique<Workspace>(world_);
    }
    void give_back(std::unique_ptr<Workspace> workspace) noexcept {
        const std::lock_guard lock(mutex_);
        idle_.push_back(std::move(workspace));
    }

private:
    const World& world_;
    std::mutex mutex_;
    std::vector<std::unique_ptr<Workspace>> idle_;
    size_t made_ = 0;
};

// A workspace of the pool until the end of its scope.
class BorrowedWorkspace {
public:
    explicit BorrowedWorkspace(WorkspacePool& pool) : pool_(pool), workspace_(pool.take()) {}
    ~BorrowedWorkspace() { pool_.give_back(std::move(workspace_)); }
    BorrowedWorkspace(const BorrowedWorkspace&) = delete;
    BorrowedWorkspace& operator=(const BorrowedWorkspace&) = delete;

    Workspace& operator*() const { return *workspace_; }
    Workspace* operator->() const { return workspace_.get(); }

private:
    WorkspacePool& pool_;
    std::unique_ptr<Workspace> workspace_;
};

}  // namespace costate
