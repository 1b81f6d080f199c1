// Two locks of one namespace, and one of a function.
#include <chrono>
#include <mutex>
#include <thread>
#include <vector>

namespace bank {
long before[500];
std::mutex accounts;
std::mutex ledger;
long after[500];

void transfer(bool is_booked)
{
    static std::mutex once;
    for (int i = 0; i < 100; i++) {
        std::lock_guard<std::mutex> held(is_booked ? ledger : accounts);
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
        std::lock_guard<std::mutex> also(once);
        before[i]++;
        after[i]++;
    }
}
}

int main()
{
    std::vector<std::thread> all;
    for (int i = 0; i < 4; i++)
        all.emplace_back(bank::transfer, i % 2 == 0);
    for (auto &one : all)
        one.join();
}
