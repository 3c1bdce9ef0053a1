package tallyport.relay;

import java.util.Locale;

/** How the hand-over of one vote ended, as the listing is told. */
enum Outcome {
    /** The vote plugin confirmed the vote. */
    DELIVERED,
    /** Handed to a vote plugin that confirms nothing. */
    SENT,
    /** May have been handed over: something was written, and no answer came. */
    UNKNOWN,
    /** Not handed over. The vote comes again by the listing's schedule. */
    RETRY,
    /** The vote plugin refuses this vote for ever. */
    FAILED;

    /** The word of the listing's API and of the journal. */
    String word() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** @return null for a text that is no outcome */
    static Outcome of(String word) {
        for (Outcome outcome : values()) {
            if (outcome.word().equals(word)) {
                return outcome;
            }
        }
        return null;
    }
}
