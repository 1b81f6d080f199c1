import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;

/** Planted programs in Java: MODE n MILLISECONDS, with the same total work whatever n is. */
class Planted {
    static double turnsPerUs = 200;
    static volatile long sink;
    static final AtomicLong left = new AtomicLong();
    static final Object table = new Object();
    static final ReentrantLock index = new ReentrantLock();

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

    static void work(String mode, long seed) {
        while (left.getAndDecrement() > 0) {
            about(40, seed = next(seed));
            seed = next(seed);
            if (mode.equals("table")) {
                synchronized (table) {
                    about(60, seed);
                }
            } else if (mode.equals("index")) {
                index.lock();
                about(60, seed);
                index.unlock();
            } else {
                about(60, seed);
            }
        }
    }

    public static void main(String[] words) throws Exception {
        String turns = System.getenv("PLANTED_TURNS");
        turnsPerUs = turns == null || turns.isEmpty() ? calibrated() : Double.parseDouble(turns);
        if (words[0].equals("calibrate")) {
            System.out.println(turnsPerUs);
            return;
        }
        left.set((long) (Double.parseDouble(words[2]) * 1e3 / 100));
        Thread[] team = new Thread[Integer.parseInt(words[1])];
        for (int id = 0; id < team.length; id++) {
            long seed = 77 + 1000003L * id;
            team[id] = new Thread(() -> work(words[0], seed));
            team[id].start();
        }
        for (Thread thread : team)
            thread.join();
    }
}
