import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ForkJoinPool;
import java.util.stream.IntStream;

/** The second set, in Java: MODE n MILLISECONDS, with the same total work whatever n is. */
public final class Second {
    static double turnsPerUs;
    static volatile long sink;

    static void compute(double us) {
        long x = 1;
        for (long turn = (long) (us * turnsPerUs); turn > 0; turn--) {
            x = x * 6364136223846793005L + 1442695040888963407L;
        }
        sink = x;
    }

    static double calibrated() {
        turnsPerUs = 200;
        double best = 1e18;
        for (int i = 0; i < 200; i++) {
            long began = System.nanoTime();
            compute(500);
            best = Math.min(best, (System.nanoTime() - began) / 1e3);
        }
        return turnsPerUs * 500 / best;
    }

    static void each(int n, Runnable body) throws InterruptedException {
        Thread[] all = new Thread[n];
        for (int id = 0; id < n; id++) {
            all[id] = new Thread(body, "worker-" + id);
            all[id].start();
        }
        for (Thread one : all) {
            one.join();
        }
    }

    /** All count in one key of a map. */
    static void hotKey(int n, double us) throws InterruptedException {
        ConcurrentHashMap<String, Long> counts = new ConcurrentHashMap<>();
        each(n, () -> {
            for (int i = 0; i < us / 500 / n; i++) {
                compute(150);
                counts.compute("hot", (key, count) -> {
                    compute(350);
                    return count == null ? 1 : count + 1;
                });
            }
        });
    }

    /** A reader that takes two thirds of the time in front of a queue. */
    static void queue(int n, double us) throws InterruptedException {
        BlockingQueue<Integer> queue = new ArrayBlockingQueue<>(4);
        Thread reader = new Thread(() -> {
            try {
                for (int i = 0; i < us / 900; i++) {
                    compute(600);
                    queue.put(1);
                }
                for (int i = 0; i < n; i++) {
                    queue.put(0);
                }
            } catch (InterruptedException error) {
                Thread.currentThread().interrupt();
            }
        }, "reader");
        reader.start();
        each(n, () -> {
            try {
                while (queue.take() != 0) {
                    compute(300);
                }
            } catch (InterruptedException error) {
                Thread.currentThread().interrupt();
            }
        });
        reader.join();
    }

    /** A parallel stream in a pool of n. */
    static void stream(int n, double us) throws Exception {
        ForkJoinPool pool = new ForkJoinPool(n);
        pool.submit(() -> IntStream.range(0, 400).parallel().forEach(i -> compute(us / 400))).get();
        pool.shutdown();
    }

    public static void main(String[] words) throws Exception {
        String turns = System.getenv("PLANTED_TURNS");
        turnsPerUs = turns == null ? calibrated() : Double.parseDouble(turns);
        if (words[0].equals("calibrate")) {
            System.out.printf("%.1f%n", turnsPerUs);
            return;
        }
        int n = Integer.parseInt(words[1]);
        double us = Double.parseDouble(words[2]) * 1e3;
        switch (words[0]) {
            case "hot-key" -> hotKey(n, us);
            case "queue" -> queue(n, us);
            default -> stream(n, us);
        }
    }
}
