package tallyport.relay;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Hands over the votes that were taken, and keeps what the listing must be told about them. Which votes are handed over is
 * decided here, by the pair of vote id and sending (ADR 0125).
 */
final class Batch {
    /** With reasons of 200 characters of four bytes, the largest body is within the listing's 64 KiB. */
    private static final int MOST_RESULTS = 50;
    /** The longest hand-over (5 s to connect, 5 s for the greeting, 30 s for the answer), and the answer to the listing. */
    private static final int ENOUGH_SECONDS = 45;
    /** Until a vote that was taken alone is written: if nothing is written, "retry" is told within the lease. */
    private static final int LEAST_SECONDS = 12;

    private final Journal journal;
    private final Log log;
    private final List<Told> open = new ArrayList<>();

    /** Begins with what the journal has open: hand-overs that the listing was not told of, and one that was interrupted. */
    Batch(Journal journal, Log log) {
        this.journal = journal;
        this.log = log;
        for (Journal.Entry entry : journal.unsettled()) {
            if (entry.outcome == null) {
                log.warn("vote " + entry.voteId + ": unknown (the relay was ended while it handed the vote over)");
                end(entry, Outcome.UNKNOWN, "the relay was ended while it handed the vote over");
            }
            open.add(new Told(entry.voteId, entry.lease, entry.outcome, entry.reason, entry));
        }
    }

    boolean hasOpen() {
        return !open.isEmpty();
    }

    /**
     * Hands a vote over, unless the journal says that it was. Its outcome waits for {@link #settle}. If votes wait behind it,
     * it is begun only while its slowest end leaves time to give those back within their leases.
     *
     * @param alone whether it was taken without others
     * @return how the hand-over ended, or null if there was none
     */
    HandOver.Result handle(Delivery vote, HandOver handOver, boolean alone) {
        Journal.Entry before = handedOverAs(vote);
        if (before != null) {
            log.info(lineOf(vote, before.outcome, "it was handed over before, as the journal says"));
            open.add(new Told(vote.voteId, vote.lease, before.outcome, before.reason, before));
            return null;
        }
        if (vote.secondsLeft() < (alone ? LEAST_SECONDS : ENOUGH_SECONDS)) {
            giveBack(vote, "too little time was left to hand it over");
            return null;
        }
        HandOver.Result result = handOver.handOver(vote, () -> journal.begin(vote));
        Journal.Entry entry = journal.find(vote.voteId, vote.sending);
        if (entry != null && entry.outcome == null) {
            end(entry, result.outcome, result.reason);
        }
        say(vote, result.outcome, result.reason);
        open.add(new Told(vote.voteId, vote.lease, result.outcome, result.reason, entry));
        return result;
    }

    /** The vote was not handed over and comes again by the listing's schedule. */
    void giveBack(Delivery vote, String reason) {
        Journal.Entry before = handedOverAs(vote);
        if (before != null) {
            open.add(new Told(vote.voteId, vote.lease, before.outcome, before.reason, before));
            return;
        }
        say(vote, Outcome.RETRY, reason);
        open.add(new Told(vote.voteId, vote.lease, Outcome.RETRY, Printable.line(reason, 200), null));
    }

    /**
     * The hand-over of the same sending, if it may have arrived. All outcomes were told before votes were taken: another
     * number means that the listing, or an owner, sends the vote again knowing them. After "retry" and "failed" nothing has
     * arrived: the vote can be handed over, and the listing counts no new sending.
     */
    private Journal.Entry handedOverAs(Delivery vote) {
        Journal.Entry entry = journal.find(vote.voteId, vote.sending);
        return entry == null || !entry.mayHaveArrived() ? null : entry;
    }

    /** Tells the listing all outcomes that it has not got. What it does not answer for stays open. */
    void settle(Site site) throws SiteProblem {
        for (List<Told> part = nextPart(); !part.isEmpty();) {
            tell(part, site);
            List<Told> rest = nextPart();
            if (rest.containsAll(part)) {
                throw SiteProblem.unreadable();
            }
            part = rest;
        }
    }

    /** Tells each outcome alone, and forgets those that the listing does not understand, so that they are not told for ever. */
    void settleOneByOne(Site site) throws SiteProblem {
        for (Told told : new ArrayList<>(open)) {
            try {
                tell(Collections.singletonList(told), site);
            } catch (SiteProblem problem) {
                if (problem.kind != SiteProblem.Kind.REQUEST) {
                    throw problem;
                }
                log.warn("vote " + told.voteId + ": the listing could not be told \"" + told.outcome.word() + "\"");
                close(told);
            }
        }
    }

    private void tell(List<Told> part, Site site) throws SiteProblem {
        Map<String, String> ends = site.done(part).ends;
        for (Told told : part) {
            String refusal = ends.get(told.voteId);
            if (refusal != null) {
                if (!refusal.isEmpty()) {
                    log.warn("vote " + told.voteId + ": the listing did not take \"" + told.outcome.word() + "\" ("
                            + refusal + ")");
                }
                close(told);
            }
        }
    }

    /** The next results for one request, each vote once. */
    private List<Told> nextPart() {
        Map<String, Told> part = new LinkedHashMap<>();
        for (Iterator<Told> each = open.iterator(); each.hasNext() && part.size() < MOST_RESULTS;) {
            Told told = each.next();
            part.putIfAbsent(told.voteId, told);
        }
        return new ArrayList<>(part.values());
    }

    private void close(Told told) {
        open.remove(told);
        try {
            if (told.entry != null) {
                journal.settled(told.entry);
            }
        } catch (IOException error) {
            log.warn("the journal cannot be written (" + error.getMessage() + ")");
        }
    }

    private void end(Journal.Entry entry, Outcome outcome, String reason) {
        try {
            journal.end(entry, outcome, reason);
        } catch (IOException error) {
            log.warn("the journal cannot be written (" + error.getMessage() + ")");
        }
    }

    private void say(Delivery vote, Outcome outcome, String reason) {
        String line = lineOf(vote, outcome, reason);
        if (outcome == Outcome.DELIVERED || outcome == Outcome.SENT) {
            log.info(line);
        } else {
            log.warn(line);
        }
    }

    private static String lineOf(Delivery vote, Outcome outcome, String reason) {
        return "vote " + vote.voteId + " of " + Printable.line(vote.username, Integer.MAX_VALUE) + ": " + outcome.word()
                + (vote.sending > 1 ? ", sending " + vote.sending : "") + (reason.isEmpty() ? "" : " (" + reason + ")");
    }
}
