import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.Future;
import java.util.concurrent.RecursiveTask;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;

/** Small services. Called as MODE n MILLISECONDS; PLANTED_TURNS: turns of the loop in a microsecond. */
public class Blind {
    static double turnsPerUs, workUs;
    static int workers;
    static volatile long sink;

    static long compute(double us) {
        long x = 1;
        for (long turn = (long) (us * turnsPerUs); turn > 0; turn--) {
            x = x * 6364136223846793005L + 1442695040888963407L;
        }
        return x;
    }

    interface Item {
        long run(long i) throws Exception;
    }

    /** Shares so many items among n threads. */
    static void items(long count, Item item) throws Exception {
        AtomicLong next = new AtomicLong();
        List<Thread> team = new ArrayList<>();
        for (int w = 0; w < workers; w++) {
            Thread t = new Thread(() -> {
                long sum = 0;
                try {
                    for (long i = next.getAndIncrement(); i < count; i = next.getAndIncrement()) {
                        sum ^= item.run(i);
                    }
                } catch (Exception e) {
                    throw new IllegalStateException(e);
                }
                sink = sum;
            }, "clerk-" + w);
            team.add(t);
            t.start();
        }
        for (Thread t : team) {
            t.join();
        }
    }

    /** Nothing is planted (control): a fixed pool of n, tiles of 1 ms; a daemon reads a counter every 10 ms. */
    static void tiles() throws Exception {
        LongAdder finished = new LongAdder();
        Thread stats = new Thread(() -> {
            try {
                while (true) {
                    Thread.sleep(10);
                    sink = finished.sum();
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }, "stats");
        stats.setDaemon(true);
        stats.start();
        ExecutorService pool = Executors.newFixedThreadPool(workers);
        List<Callable<Long>> all = new ArrayList<>();
        for (long i = (long) (workUs / 1000); i > 0; i--) {
            all.add(() -> {
                long x = compute(1000);
                finished.increment();
                return x;
            });
        }
        for (Future<Long> f : pool.invokeAll(all)) {
            sink = f.get();
        }
        pool.shutdown();
    }

    static long lastNumber;

    static synchronized long invoiceNumber() {
        lastNumber++;
        return compute(400);
    }

    /** A synchronized static method, which is 0.8 of the work of an invoice. */
    static void invoices() throws Exception {
        items((long) (workUs / 500), i -> compute(100) ^ invoiceNumber());
    }

    static class Region extends RecursiveTask<Long> {
        final int from, to;

        Region(int from, int to) {
            this.from = from;
            this.to = to;
        }

        @Override
        protected Long compute() {
            if (to - from == 1) {
                return Blind.compute(workUs * (to == 32 ? 0.66 : 0.34 / 31));
            }
            int middle = (from + to) >>> 1;
            Region first = new Region(from, middle);
            first.fork();
            long x = new Region(middle, to).compute();
            return x ^ first.join();
        }
    }

    /** Fork and join over 32 regions: one leaf is 0.66 of all the work and is not divided further. */
    static void regions() {
        ForkJoinPool pool = new ForkJoinPool(workers);
        sink = pool.invoke(new Region(0, 32));
        pool.shutdown();
    }

    /** A single-thread executor computes 0.75 of each order, and the n clerks wait for it. */
    static void orders() throws Exception {
        ExecutorService signer = Executors.newSingleThreadExecutor();
        items((long) (workUs / 2000), i -> {
            long x = compute(500);
            return x ^ signer.submit(() -> compute(1500)).get();
        });
        signer.shutdown();
    }

    static double calibrated() {
        turnsPerUs = 200;
        double best = 1e18;
        for (int i = 0; i < 200; i++) {
            long from = System.nanoTime();
            sink = compute(500);
            best = Math.min(best, (System.nanoTime() - from) / 1e3);
        }
        return 200 * 500 / best;
    }

    public static void main(String[] words) throws Exception {
        String turns = System.getenv("PLANTED_TURNS");
        turnsPerUs = turns != null && !turns.isBlank() ? Double.parseDouble(turns.trim()) : calibrated();
        if (words.length == 1 && words[0].equals("calibrate")) {
            System.out.println(Math.round(turnsPerUs * 10) / 10.0);
            return;
        }
        if (words.length < 3) {
            System.err.println("MODE n MILLISECONDS");
            System.exit(2);
        }
        workers = Integer.parseInt(words[1]);
        workUs = Double.parseDouble(words[2]) * 1e3;
        long from = System.nanoTime();
        switch (words[0]) {
            case "tiles": tiles(); break;
            case "invoices": invoices(); break;
            case "regions": regions(); break;
            case "orders": orders(); break;
            default: System.exit(2);
        }
        System.out.println((System.nanoTime() - from) / 100000 / 10.0 + " ms");
    }
}
