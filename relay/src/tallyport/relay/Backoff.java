package tallyport.relay;

import java.util.concurrent.ThreadLocalRandom;

/** Waits that double from one failure to the next, up to a limit, each 20 % longer or shorter by chance. */
final class Backoff {
    private final long firstMs;
    private final long longestMs;
    private long nextMs;

    Backoff(long firstMs, long longestMs) {
        this.firstMs = firstMs;
        this.longestMs = longestMs;
        nextMs = firstMs;
    }

    long nextMs() {
        long ms = nextMs;
        nextMs = Math.min(longestMs, nextMs * 2);
        return jittered(ms);
    }

    void reset() {
        nextMs = firstMs;
    }

    static long jittered(long ms) {
        return (long) (ms * ThreadLocalRandom.current().nextDouble(0.8, 1.2));
    }
}
