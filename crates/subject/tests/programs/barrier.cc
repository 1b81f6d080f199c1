// Threads that wait at a barrier of C++20 for one that sleeps.
#include <barrier>
#include <chrono>
#include <thread>
#include <vector>

int main()
{
    std::barrier<> all_there(4);
    std::vector<std::thread> all;
    for (int i = 0; i < 4; i++)
        all.emplace_back([&all_there, i] {
            for (int round = 0; round < 5; round++) {
                if (i == 0)
                    std::this_thread::sleep_for(std::chrono::milliseconds(60));
                all_there.arrive_and_wait();
            }
        });
    for (auto &one : all)
        one.join();
}
