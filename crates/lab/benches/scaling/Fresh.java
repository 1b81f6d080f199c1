import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.LongStream;

/** Small services and tools. Called as MODE n MILLISECONDS. */
public class Fresh {
    static double ms = 600;

    static int amount(double in600ms) {
        return (int) (in600ms * ms / 600);
    }

    static long mix(long x) {
        x ^= x >>> 33;
        x *= 0xff51afd7ed558ccdL;
        x ^= x >>> 33;
        x *= 0xc4ceb9fe1a85ec53L;
        return x ^ x >>> 33;
    }

    static long layout(long x, int rounds) {
        for (int i = 0; i < rounds; i++)
            x = mix(x + i);
        return x;
    }

    interface Work {
        void run(int worker) throws Exception;
    }

    static void team(int n, Work work) throws Exception {
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < n; i++) {
            int id = i;
            Thread t = new Thread(() -> {
                try {
                    work.run(id);
                } catch (Exception e) {
                    throw new RuntimeException(e);
                }
            }, "worker-" + i);
            t.start();
            threads.add(t);
        }
        for (Thread t : threads)
            t.join();
    }

    /** Word counts in a ConcurrentHashMap. */
    static void words(int n) throws Exception {
        ConcurrentHashMap<Long, AtomicLong> counts = new ConcurrentHashMap<>();
        AtomicLong next = new AtomicLong();
        int documents = amount(5000);
        ExecutorService pool = Executors.newFixedThreadPool(n);
        List<Future<?>> all = new ArrayList<>();
        for (int w = 0; w < n; w++)
            all.add(pool.submit(() -> {
                for (long d; (d = next.getAndIncrement()) < documents;) {
                    long word = layout(d, 28000);
                    counts.computeIfAbsent(word & 1023, k -> new AtomicLong()).incrementAndGet();
                }
            }));
        for (Future<?> f : all)
            f.get();
        pool.shutdown();
        System.out.println(counts.size() + " words");
    }

    /** Prime counting with a parallel stream. */
    static void primes(int n) throws Exception {
        ForkJoinPool pool = new ForkJoinPool(n);
        int parts = amount(4800);
        long sum = pool.submit(() -> LongStream.range(0, parts).parallel().map(p -> layout(p, 28000) & 1).sum()).get();
        pool.shutdown();
        System.out.println(sum);
    }

    static final Map<Long, Long> thumbnails = Collections.synchronizedMap(new HashMap<>());

    /** A cache whose values are computed while the map is locked. */
    static void gallery(int n) throws Exception {
        AtomicLong next = new AtomicLong();
        int pictures = amount(2400);
        team(n, id -> {
            long sum = 0;
            for (long p; (p = next.getAndIncrement()) < pictures;) {
                sum += layout(p, 14000);
                sum += thumbnails.computeIfAbsent(p, k -> layout(k, 42000));
            }
            if (sum == 42)
                System.out.println();
        });
        System.out.println(thumbnails.size() + " thumbnails");
    }

    static final ReentrantLock vault = new ReentrantLock();
    static long seal;

    /** Transfers that are sealed one after the other. */
    static void transfers(int n) throws Exception {
        AtomicLong next = new AtomicLong();
        int transfers = amount(1200);
        team(n, id -> {
            for (long t; (t = next.getAndIncrement()) < transfers;) {
                long order = layout(t, 28000);
                vault.lock();
                try {
                    seal = layout(seal ^ order, 84000);
                } finally {
                    vault.unlock();
                }
            }
        });
        System.out.println(seal);
    }

    /** Reports in a pool; the yearly one is as much as all others together and another half. */
    static void nightly(int n) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(n);
        List<Future<Long>> reports = new ArrayList<>();
        int rounds = amount(28000);
        reports.add(pool.submit(() -> {
            long x = 1;
            for (int part = 0; part < 3600; part++)
                x = layout(x, rounds);
            return x;
        }));
        for (int r = 0; r < 1200; r++) {
            long day = r;
            reports.add(pool.submit(() -> layout(day, rounds)));
        }
        long sum = 0;
        for (Future<Long> r : reports)
            sum += r.get();
        pool.shutdown();
        System.out.println(sum);
    }

    static final BlockingQueue<long[]> belt = new ArrayBlockingQueue<>(8);

    /** One thread decodes frames in order, the others scale them; alone it does both. */
    static void frames(int n) throws Exception {
        int frames = amount(1200);
        long[] end = new long[0];
        team(n, id -> {
            if (id > 0) {
                for (long[] f; (f = belt.take()) != end;)
                    f[0] = layout(f[0], 28000);
                return;
            }
            long stream = 1;
            for (int f = 0; f < frames; f++) {
                stream = layout(stream, 84000);
                long[] frame = {stream, f};
                if (n == 1)
                    frame[0] = layout(frame[0], 28000);
                else
                    belt.put(frame);
            }
            for (int i = 1; i < n; i++)
                belt.put(end);
        });
        System.out.println(frames + " frames");
    }

    public static void main(String[] args) throws Exception {
        if (args.length == 1 && args[0].equals("calibrate")) {
            System.out.println("300.0");
            return;
        }
        int n = Integer.parseInt(args[1]);
        if (args.length > 2)
            ms = Double.parseDouble(args[2]);
        long from = System.nanoTime();
        switch (args[0]) {
            case "words" -> words(n);
            case "primes" -> primes(n);
            case "gallery" -> gallery(n);
            case "transfers" -> transfers(n);
            case "nightly" -> nightly(n);
            case "frames" -> frames(n);
            default -> System.exit(2);
        }
        System.out.printf("%.1f ms%n", (System.nanoTime() - from) / 1e6);
    }
}
