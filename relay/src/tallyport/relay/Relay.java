package tallyport.relay;

import java.io.File;
import java.io.IOException;
import java.util.List;
import java.util.UUID;

/** Fetches votes and hands them over until it is stopped. It runs in a thread of its own. */
final class Relay implements Runnable {
    private static final int MOST_VOTES = 20;
    private static final int WAIT_SECONDS = 25;
    private static final long SETTING_MS = 60_000;
    private static final long KEY_MS = 300_000;
    private static final long JOURNAL_MS = 5_000;
    private static final long HOUR_NANOS = 3_600_000_000_000L;
    /** How long a stop waits for the answer to the vote under way. */
    private static final long STOP_NANOS = 10_000_000_000L;
    /** Votes that take longer are fetched fewer at once, so that their leases last. */
    private static final long QUICK_NANOS = 500_000_000L;
    /** An answer without votes that came sooner is followed by a pause. */
    private static final long WAITED_NANOS = 1_000_000_000L;

    private final Place place;
    private final Log log;
    private final Complaints complaints;
    private final Hold hold = new Hold();
    private final Backoff away = new Backoff(1_000, 60_000);
    private final Backoff empty = new Backoff(500, 15_000);

    private volatile boolean stopping;
    private volatile long stopAt;
    private Site site;
    private HandOver handOver;
    private long configStamp;
    private long announcedStamp;
    private int waitSeconds = WAIT_SECONDS;
    private long shortenedAt;
    private int max = 1;
    private boolean looked;
    private boolean paused;

    Relay(Place place, Log log) {
        this.place = place;
        this.log = log;
        complaints = new Complaints(log);
    }

    @Override
    public void run() {
        while (!stopping) {
            try (Journal journal = new Journal(place.folder())) {
                relay(journal);
            } catch (IOException error) {
                beginLater("the relay cannot begin: " + error.getMessage());
            } catch (RuntimeException | Error error) {
                // The JVM leaves the trace out of an error that it has thrown often.
                StackTraceElement[] trace = error.getStackTrace();
                beginLater("an error in the relay: " + error + (trace.length > 0 ? " at " + trace[0] : ""));
            }
        }
        log.info("stopped");
    }

    /** The configuration is read again after the pause; only a change from now on ends the pause. */
    private void beginLater(String reason) {
        complaints.say(reason);
        synchronized (this) {
            site = null;
        }
        configStamp = stampOf(place.config);
        pause(JOURNAL_MS);
    }

    /** Ends the relay from another thread: the vote under way is finished, and the listing is told. */
    synchronized void stop() {
        stopAt = System.nanoTime() + STOP_NANOS;
        stopping = true;
        if (site != null) {
            site.cut();
        }
        notifyAll();
    }

    private void relay(Journal journal) {
        Batch batch = new Batch(journal, log);
        boolean newRequest = journal.requestId().isEmpty();
        while (!stopping) {
            if (!configured()) {
                pause(KEY_MS);
                continue;
            }
            try {
                batch.settle(site);
                if (!pluginIsThere()) {
                    continue;
                }
                if (newRequest) {
                    journal.beginRequest(UUID.randomUUID().toString());
                    newRequest = false;
                }
                fetch(batch, journal.requestId());
                newRequest = true;
            } catch (SiteProblem problem) {
                waitAfter(problem, batch);
            } catch (IOException error) {
                complaints.say("no votes are fetched: the journal cannot be written (" + error.getMessage()
                        + "): is the disk full?");
                pause(JOURNAL_MS);
            }
        }
        tellTheLast(batch);
    }

    private void tellTheLast(Batch batch) {
        try {
            if (site != null && batch.hasOpen()) {
                batch.settle(site);
            }
        } catch (SiteProblem problem) {
            log.warn("the last outcomes are told at the next start: " + problem.getMessage());
        }
    }

    private void fetch(Batch batch, String requestId) throws SiteProblem {
        long began = System.nanoTime();
        Site.Taken taken = take(requestId);
        long waited = System.nanoTime() - began;
        complaints.end("votes are fetched again");
        away.reset();
        if (taken.paused != paused) {
            paused = taken.paused;
            log.info(paused ? "the delivery of votes is paused at the listing" : "the delivery of votes goes on");
        }
        if (taken.unreadable > 0) {
            log.warn("votes of the listing cannot be read: " + taken.unreadable + ", the first one because "
                    + taken.firstProblem);
        }
        for (Delivery vote : taken.deliveries) {
            handle(vote, batch, taken.deliveries.size() == 1);
        }
        if (!taken.deliveries.isEmpty() || waited > WAITED_NANOS) {
            empty.reset();
        } else {
            pause(empty.nextMs());
        }
        batch.settle(site);
    }

    private Site.Taken take(String requestId) throws SiteProblem {
        long began = System.nanoTime();
        if (began - shortenedAt > HOUR_NANOS) {
            waitSeconds = WAIT_SECONDS;
        }
        try {
            return site.take(requestId, max, waitSeconds, this::isChanged);
        } catch (SiteProblem problem) {
            long seconds = (System.nanoTime() - began) / 1_000_000_000L;
            if (!problem.cut || seconds < 10 || waitSeconds < 10 || stopping) {
                throw problem;
            }
            // A proxy cuts requests that wait: the next ones wait for less long, and this one is repeated.
            waitSeconds = (int) Math.min(waitSeconds - 1, seconds - 5);
            shortenedAt = System.nanoTime();
            return site.take(requestId, max, waitSeconds, this::isChanged);
        }
    }

    private void handle(Delivery vote, Batch batch, boolean alone) {
        if (stopping || hold.isOn()) {
            batch.giveBack(vote, stopping ? "the relay stops" : hold.reason());
            return;
        }
        long began = System.nanoTime();
        HandOver.Result result = batch.handle(vote, handOver, alone);
        if (result == null) {
            return;
        }
        hold.after(result, handOver.stamp());
        long quick = QUICK_NANOS * MOST_VOTES / Math.max(QUICK_NANOS, System.nanoTime() - began);
        max = result.trouble == HandOver.Trouble.NONE ? (int) Math.max(1, quick) : 1;
    }

    /**
     * Waits while the vote plugin is away or refuses votes, and looks whether it is there before the next vote. While all is
     * well it is not dialled: some plugins write an error to the log for each connection without a vote.
     */
    private boolean pluginIsThere() {
        if (looked && !hold.isOn()) {
            return true;
        }
        if (hold.isOn()) {
            complaints.say("no votes are fetched for now: " + hold.reason());
            pause(hold.nextMs(), hold.stamp());
            if (stopping) {
                return false;
            }
        }
        HandOver.Result wrong = handOver.look();
        looked = true;
        if (wrong != null) {
            hold.after(wrong, handOver.stamp());
            return false;
        }
        hold.lift();
        return true;
    }

    private void waitAfter(SiteProblem problem, Batch batch) {
        // If the configuration has changed, the request was given up for it, or the problem may be over.
        if (stopping || isChanged()) {
            return;
        }
        complaints.say(problem.getMessage());
        switch (problem.kind) {
            case KEY:
                pause(Math.max(problem.waitMs, Backoff.jittered(KEY_MS)));
                return;
            case REQUEST:
                settleOneByOne(batch);
                return;
            case SETTING:
                pause(Math.max(problem.waitMs, Backoff.jittered(SETTING_MS)));
                return;
            default:
                pause(Math.max(problem.waitMs, away.nextMs()));
        }
    }

    private void settleOneByOne(Batch batch) {
        try {
            batch.settleOneByOne(site);
            pause(Backoff.jittered(SETTING_MS));
        } catch (SiteProblem problem) {
            waitAfter(problem, batch);
        }
    }

    /** Reads the configuration if it has changed. */
    private boolean configured() {
        long stamp = stampOf(place.config);
        if (site != null && stamp == configStamp) {
            return true;
        }
        configStamp = stamp;
        try {
            Settings settings = Settings.read(place.config);
            List<File> folders = place.votifierFolders(settings);
            synchronized (this) {
                site = new Site(settings, place.edition);
                if (stopping) {
                    site.cut();
                }
            }
            waitSeconds = WAIT_SECONDS;
            handOver = new HandOver(folders, () -> stopping ? stopAt : System.nanoTime() + KEY_MS * 1_000_000L);
            hold.lift();
            looked = false;
            if (stamp != announcedStamp) {
                log.info("fetches the votes of " + settings.server);
                announcedStamp = stamp;
            }
            return true;
        } catch (Settings.Invalid error) {
            synchronized (this) {
                site = null;
            }
            complaints.say(error.getMessage());
            return false;
        }
    }

    private boolean isChanged() {
        return stampOf(place.config) != configStamp;
    }

    /** Another number once the file has changed; within a second, its length tells. */
    private static long stampOf(File file) {
        return file.lastModified() * 31 + file.length();
    }

    private void pause(long ms) {
        pause(ms, handOver == null ? "" : handOver.stamp());
    }

    /** Waits, at most until the relay is stopped or a configuration changes. */
    private synchronized void pause(long ms, String stamp) {
        long end = System.nanoTime() + ms * 1_000_000L;
        try {
            for (long left = ms; left > 0 && !stopping; left = (end - System.nanoTime()) / 1_000_000L) {
                if (isChanged() || (handOver != null && !handOver.stamp().equals(stamp))) {
                    return;
                }
                wait(Math.min(left, 1_000));
            }
        } catch (InterruptedException error) {
            stopping = true;
        }
    }
}
