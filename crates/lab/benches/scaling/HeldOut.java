import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;

/** Programs that nobody tuned the analysis to, in Java: MODE n MILLISECONDS, with the same total work. */
class HeldOut {
    static double turnsPerUs = 200;
    static volatile long sink;

    static long compute(double us) {
        long x = 1;
        for (long turn = (long) (us * turnsPerUs); turn > 0; turn--)
            x = x * 6364136223846793005L + 1442695040888963407L;
        sink = x;
        return x;
    }

    /** From half the length to three halves of it. */
    static long about(double us, int item) {
        return compute(us * (0.5 + (item * 31 % 64) / 64.0));
    }

    static double calibrated() {
        double best = 1e18;
        for (int i = 0; i < 400; i++) {
            long began = System.nanoTime();
            compute(500);
            best = Math.min(best, (System.nanoTime() - began) / 1e3);
        }
        return turnsPerUs * 500 / best;
    }

    interface Task {
        void run(int item) throws Exception;
    }

    /** Divides items among the threads of a pool. */
    static void team(int workers, int items, Task task) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(workers);
        AtomicInteger next = new AtomicInteger();
        Callable<Void> worker = () -> {
            for (int item; (item = next.getAndIncrement()) < items;)
                task.run(item);
            return null;
        };
        for (Future<Void> done : pool.invokeAll(Collections.nCopies(workers, worker)))
            done.get();
        pool.shutdown();
    }

    /** Sorts small arrays. Nothing in the way. */
    static void sorting(int workers, double us) throws Exception {
        team(workers, (int) (us / 60), item -> {
            int[] numbers = new int[1500];
            for (int i = 0; i < numbers.length; i++)
                numbers[i] = (int) ((item + i) * 2654435761L >>> 7);
            for (int gap = 700; gap > 0; gap /= 2)
                for (int i = gap; i < numbers.length; i++) {
                    int held = numbers[i], at = i;
                    for (; at >= gap && numbers[at - gap] > held; at -= gap)
                        numbers[at] = numbers[at - gap];
                    numbers[at] = held;
                }
            if (numbers[0] > numbers[1])
                throw new IllegalStateException("not sorted");
        });
    }

    /** A map of Collections.synchronizedMap, whose values are computed inside. */
    static void sessions(int workers, double us) throws Exception {
        Map<Integer, Long> map = Collections.synchronizedMap(new LinkedHashMap<>(16, 0.75f, true));
        team(workers, (int) (us / 100), item -> {
            about(35, item);
            map.compute(item % 50, (key, old) -> about(65, item) + key);
        });
    }

    /** A ConcurrentHashMap in which nearly all keys are the same. */
    static void votes(int workers, double us) throws Exception {
        ConcurrentHashMap<String, Long> votes = new ConcurrentHashMap<>();
        team(workers, (int) (us / 100), item -> {
            about(35, item);
            String name = item % 20 == 0 ? "other" + item % 7 : "first";
            votes.merge(name, 1L, (old, one) -> old + (about(65, item) == 0 ? 2 : one));
        });
    }

    /** Workers put into a queue of four places; one thread takes from it, more slowly. */
    static void orders(int workers, double us) throws Exception {
        BlockingQueue<Integer> queue = new ArrayBlockingQueue<>(4);
        int items = (int) (us / 100);
        Thread clerk = new Thread(() -> {
            try {
                for (int i = 0; i < items; i++)
                    about(100, queue.take());
            } catch (InterruptedException end) {
                return;
            }
        });
        clerk.start();
        team(workers, items, item -> {
            about(50, item);
            queue.put(item);
        });
        clerk.join();
    }

    static final ReentrantLock gate = new ReentrantLock(true);
    static int printed;

    /** One printer behind a fair lock. */
    static void printer(int workers, double us) throws Exception {
        team(workers, (int) (us / 200), item -> {
            about(60, item);
            gate.lock();
            try {
                about(140, item);
                printed++;
            } finally {
                gate.unlock();
            }
        });
    }

    /** Places are given out by one AtomicLong, by compare-and-set. */
    static void places(int workers, double us) throws Exception {
        AtomicLong next = new AtomicLong();
        team(workers, (int) (us / 50), item -> {
            for (int i = 0; i < 5000; i++)
                next.getAndUpdate(old -> old * 31 + 7);
        });
        sink = next.get();
    }

    public static void main(String[] words) throws Exception {
        String turns = System.getenv("PLANTED_TURNS");
        turnsPerUs = turns == null || turns.isEmpty() ? calibrated() : Double.parseDouble(turns);
        if (words[0].equals("calibrate")) {
            System.out.println(turnsPerUs);
            return;
        }
        int workers = Integer.parseInt(words[1]);
        double us = Double.parseDouble(words[2]) * 1e3;
        switch (words[0]) {
            case "sorting" -> sorting(workers, us);
            case "sessions" -> sessions(workers, us);
            case "votes" -> votes(workers, us);
            case "orders" -> orders(workers, us);
            case "printer" -> printer(workers, us);
            case "places" -> places(workers, us);
            default -> System.exit(2);
        }
    }
}
