import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.RecursiveAction;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;

/** A third set of planted programs in Java: MODE n MILLISECONDS, with the same total work whatever n is. */
class Third {
    static double turnsPerUs = 200;
    static volatile long sink;
    static final AtomicLong left = new AtomicLong();

    static void compute(double us) {
        long x = 1;
        for (long turn = (long) (us * turnsPerUs); turn > 0; turn--)
            x = x * 6364136223846793005L + 1442695040888963407L;
        sink = x;
    }

    static long next(long seed) {
        return seed * 6364136223846793005L + 1442695040888963407L;
    }

    static void about(double us, long seed) {
        compute(us * 2 * (seed >>> 40) / (1 << 24));
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

    interface Body {
        void run(int id, long seed);
    }

    static void team(int n, Body body) throws InterruptedException {
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < n; i++) {
            int id = i;
            threads.add(new Thread(() -> body.run(id, 77 + 1000003L * id), "worker-" + id));
        }
        for (Thread thread : threads)
            thread.start();
        for (Thread thread : threads)
            thread.join();
    }

    // Counts the words of documents; the threads seldom meet in the map.

    static final ConcurrentHashMap<Long, Long> counts = new ConcurrentHashMap<>();

    static void countWords(long document) {
        long seed = next(document);
        for (int part = 0; part < 4; part++) {
            about(100, seed = next(seed));
            counts.merge((seed >>> 40) % 5000, 1L, Long::sum);
        }
    }

    static void documents(int n, double us) throws InterruptedException {
        ExecutorService pool = Executors.newFixedThreadPool(n);
        for (long i = 0; i < (long) (us / 400); i++) {
            long document = i;
            pool.execute(() -> countWords(document));
        }
        pool.shutdown();
        pool.awaitTermination(1, TimeUnit.MINUTES);
    }

    // All sales are of one shop, whose total is computed in the map.

    static final ConcurrentHashMap<String, Long> totals = new ConcurrentHashMap<>();

    static void tally(String shop, long seed) {
        totals.compute(shop, (name, sum) -> {
            about(80, seed);
            return (sum == null ? 0 : sum) + (seed >>> 50);
        });
    }

    static void sell(int id, long seed) {
        while (left.getAndDecrement() > 0) {
            about(20, seed = next(seed));
            tally("main street", seed = next(seed));
        }
    }

    static void sales(int n, double us) throws InterruptedException {
        left.set((long) (us / 100));
        team(n, Third::sell);
    }

    // Each thread counts its packets in its own place, but the places are side by side.

    static final int PACKET_TURNS = 16;
    static final AtomicLongArray packets = new AtomicLongArray(64);

    static void receive(int id, long seed, long count) {
        long x = seed;
        for (long i = 0; i < count; i++) {
            for (int turn = 0; turn < 10; turn++)
                x = x * 6364136223846793005L + 1442695040888963407L;
            packets.incrementAndGet(id);
        }
        sink = x;
    }

    static void network(int n, double us) throws InterruptedException {
        long count = (long) (us * turnsPerUs / PACKET_TURNS) / n;
        team(n, (id, seed) -> receive(id, seed, count));
    }

    // A scan of folders. One of them holds an archive with three quarters of all data.

    static class Archive extends RecursiveAction {
        final double us;

        Archive(double us) {
            this.us = us;
        }

        @Override
        protected void compute() {
            for (double done = 0; done < us; done += 100)
                Third.compute(100);
        }
    }

    static class Root extends RecursiveAction {
        final double us;

        Root(double us) {
            this.us = us;
        }

        @Override
        protected void compute() {
            List<Archive> archives = new ArrayList<>();
            archives.add(new Archive(us * 0.75));
            for (int i = 0; i < 16; i++)
                archives.add(new Archive(us * 0.25 / 16));
            invokeAll(archives);
        }
    }

    static void folders(int n, double us) {
        new ForkJoinPool(n).invoke(new Root(us));
    }

    static void plant(String mode, int n, double us) throws InterruptedException {
        switch (mode) {
            case "documents" -> documents(n, us);
            case "sales" -> sales(n, us);
            case "network" -> network(n, us);
            case "folders" -> folders(n, us);
            default -> System.exit(2);
        }
    }

    public static void main(String[] words) throws Exception {
        String turns = System.getenv("PLANTED_TURNS");
        turnsPerUs = turns == null || turns.isEmpty() ? calibrated() : Double.parseDouble(turns);
        if (words[0].equals("calibrate")) {
            System.out.println(turnsPerUs);
            return;
        }
        long began = System.nanoTime();
        plant(words[0], Integer.parseInt(words[1]), Double.parseDouble(words[2]) * 1e3);
        System.out.printf("%.1f ms%n", (System.nanoTime() - began) / 1e6);
    }
}
