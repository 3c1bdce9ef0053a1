package tallyport.relay;

/** What the listing must be told about one sending of a vote. */
final class Told {
    final String voteId;
    final String lease;
    final Outcome outcome;
    /** For the owner; empty if the vote arrived. */
    final String reason;
    /** What the journal has about it; null if nothing was written to the vote plugin. */
    final Journal.Entry entry;

    Told(String voteId, String lease, Outcome outcome, String reason, Journal.Entry entry) {
        this.voteId = voteId;
        this.lease = lease;
        this.outcome = outcome;
        this.reason = reason;
        this.entry = entry;
    }
}
