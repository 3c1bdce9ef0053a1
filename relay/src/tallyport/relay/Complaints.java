package tallyport.relay;

/** Says what is wrong once, and again every ten minutes while it lasts. */
final class Complaints {
    private static final long AGAIN_NANOS = 600_000_000_000L;

    private final Log log;
    private String last = "";
    private long lastAt;

    Complaints(Log log) {
        this.log = log;
    }

    void say(String text) {
        if (!text.equals(last) || System.nanoTime() - lastAt > AGAIN_NANOS) {
            log.warn(text);
            last = text;
            lastAt = System.nanoTime();
        }
    }

    /** What was wrong is over. */
    void end(String text) {
        if (!last.isEmpty()) {
            log.info(text);
            last = "";
        }
    }
}
