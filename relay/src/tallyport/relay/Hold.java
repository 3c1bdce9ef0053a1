package tallyport.relay;

/** Whether votes are held back because the vote plugin would not take them, and for how long. */
final class Hold {
    private static final int SILENT_ENDS = 2;

    private final Backoff unreachable = new Backoff(2_000, 60_000);
    /** If nobody fetches for ten minutes, the listing reports it: the longest wait is well below that. */
    private final Backoff configuration = new Backoff(30_000, 300_000);
    private HandOver.Result last;
    private String stamp = "";
    private int silent;

    boolean isOn() {
        return last != null;
    }

    String reason() {
        return last == null ? "" : last.reason;
    }

    /** The settings of the vote plugin with which the last attempt was made. */
    String stamp() {
        return stamp;
    }

    /** How long until the next attempt. */
    long nextMs() {
        return last != null && last.trouble != HandOver.Trouble.UNREACHABLE ? configuration.nextMs() : unreachable.nextMs();
    }

    /** If two votes in a row get no answer, the next ones would only use up their sendings. */
    void after(HandOver.Result result, String stampNow) {
        stamp = stampNow;
        silent = result.trouble == HandOver.Trouble.SILENT ? silent + 1 : 0;
        if (result.trouble == HandOver.Trouble.NONE) {
            unreachable.reset();
            configuration.reset();
            last = null;
        } else if (result.trouble != HandOver.Trouble.SILENT || silent >= SILENT_ENDS) {
            last = result;
        }
    }

    /** The next vote is tried. A longer wait follows if it fails as well. */
    void lift() {
        last = null;
    }
}
