import java.io.IOException;
import java.lang.reflect.Method;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A server of Java: a thread for each connection, of the platform or a virtual one (Java 21).
 *
 * Server WAIT_NS COMPUTE_NS EVERY KEEP_ALIVE MODEL, with the listening socket as standard input: each
 * request waits, and one of EVERY computes before. MODEL is threads or virtual, or asked: then it ends, and
 * fails without virtual threads. SIGTERM ends it.
 */
public final class Server {
    private static final int HEAD_BYTES_MAX = 64 * 1024;
    private static final int STEPS = 1_000_000;
    private static final AtomicLong asked = new AtomicLong();
    private static volatile long sink;
    private static long waitNs;
    private static long computeNs;
    private static long every;
    private static boolean keepAlive;
    private static double nsPerStep;

    private static long steps(long count) {
        long state = 88172645463325252L;
        for (long step = 0; step < count; step++) {
            state ^= state << 13;
            state ^= state >>> 7;
            state ^= state << 17;
        }
        return state;
    }

    /** A virtual thread has no clock of its CPU time: the work is a number of steps, timed beforehand. */
    private static void calibrate() {
        nsPerStep = Double.MAX_VALUE;
        for (int round = 0; round < 30; round++) {
            long begun = System.nanoTime();
            sink = steps(STEPS);
            nsPerStep = Math.min(nsPerStep, (System.nanoTime() - begun) / (double) STEPS);
        }
    }

    private static byte[] answer(boolean isLast) {
        String body = "weighed and not wanting";
        String head = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: " + body.length();
        String text = head + (isLast ? "\r\nConnection: close" : "") + "\r\n\r\n" + body;
        return text.getBytes(StandardCharsets.US_ASCII);
    }

    /** Reads the head of a request; returns null where the peer has ended. */
    private static String head(SocketChannel peer, ByteBuffer room) throws IOException {
        while (true) {
            String text = new String(room.array(), 0, room.position(), StandardCharsets.ISO_8859_1);
            int end = text.indexOf("\r\n\r\n");
            if (end >= 0) {
                room.flip().position(end + 4);
                room.compact();
                return text.substring(0, end + 2);
            }
            if (!room.hasRemaining() || peer.read(room) < 0) {
                return null;
            }
        }
    }

    private static void converse(SocketChannel peer) {
        try (peer) {
            ByteBuffer room = ByteBuffer.allocate(HEAD_BYTES_MAX / 16);
            String head;
            boolean isLast = false;
            while (!isLast && (head = head(peer, room)) != null) {
                if (computeNs > 0 && (every == 1 || asked.incrementAndGet() % every == 0)) {
                    sink = steps((long) (computeNs / nsPerStep));
                }
                if (waitNs > 0) {
                    Thread.sleep(waitNs / 1_000_000, (int) (waitNs % 1_000_000));
                }
                isLast = !keepAlive || head.toLowerCase().contains("\r\nconnection: close\r\n");
                ByteBuffer left = ByteBuffer.wrap(answer(isLast));
                while (left.hasRemaining()) {
                    peer.write(left);
                }
            }
        } catch (IOException | InterruptedException gone) {
            // The peer has left.
        }
    }

    public static void main(String[] args) throws Exception {
        waitNs = Long.parseLong(args[0]);
        computeNs = Long.parseLong(args[1]);
        every = Long.parseLong(args[2]);
        keepAlive = args[3].equals("yes");
        Method virtual = null;
        if (!args[4].equals("threads")) {
            virtual = Thread.class.getMethod("startVirtualThread", Runnable.class);
        }
        if (args[4].equals("asked")) {
            return;
        }
        Runtime.getRuntime().addShutdownHook(new Thread(() -> Runtime.getRuntime().halt(0)));
        calibrate();
        ServerSocketChannel listener = (ServerSocketChannel) System.inheritedChannel();
        while (true) {
            SocketChannel peer = listener.accept();
            Runnable serve = () -> converse(peer);
            if (virtual == null) {
                new Thread(serve).start();
            } else {
                virtual.invoke(null, serve);
            }
        }
    }
}
