package tallyport.relay;

import java.time.DateTimeException;
import java.time.OffsetDateTime;
import java.util.Map;
import java.util.regex.Pattern;

/** One vote as the listing gave it, with the lease under which it is answered. */
final class Delivery {
    private static final Pattern UUID =
            Pattern.compile("[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}");
    private static final Pattern LEASE = Pattern.compile("[!-~]{1,200}");

    final String voteId;
    final long sending;
    final String lease;
    final String username;
    final String serviceName;
    /** The time of the vote, in milliseconds; the same in every sending. */
    final long votedAt;
    /** What {@link System#nanoTime} says when the lease ends. */
    final long leaseEndsAt;

    private Delivery(Map<?, ?> json, long receivedAt) {
        voteId = matching(json, "vote_id", UUID);
        lease = matching(json, "lease", LEASE);
        sending = wholeNumber(json, "sending");
        leaseEndsAt = receivedAt + wholeNumber(json, "lease_seconds_left") * 1_000_000_000L;
        username = line(json, "username");
        serviceName = line(json, "service_name");
        try {
            votedAt = OffsetDateTime.parse(text(json, "voted_at")).toInstant().toEpochMilli();
        } catch (DateTimeException | ArithmeticException error) {
            throw new IllegalArgumentException("voted_at is no time");
        }
    }

    /**
     * Reads one element of "deliveries". Fields that it does not know are ignored.
     *
     * @param receivedAt what {@link System#nanoTime} said when the answer had arrived: the rest of the lease counts from there
     * @throws IllegalArgumentException names the field that is missing or wrong
     */
    static Delivery of(Object element, long receivedAt) {
        if (!(element instanceof Map)) {
            throw new IllegalArgumentException("a delivery is no object");
        }
        return new Delivery((Map<?, ?>) element, receivedAt);
    }

    /** The seconds that are left of the lease. */
    long secondsLeft() {
        return (leaseEndsAt - System.nanoTime()) / 1_000_000_000L;
    }

    private static String text(Map<?, ?> json, String field) {
        Object value = json.get(field);
        if (!(value instanceof String)) {
            throw new IllegalArgumentException(field + " is no text");
        }
        return (String) value;
    }

    private static String matching(Map<?, ?> json, String field, Pattern pattern) {
        String text = text(json, field);
        if (!pattern.matcher(text).matches()) {
            throw new IllegalArgumentException(field + " has an unexpected form");
        }
        return text;
    }

    /**
     * A text that a vote plugin can take: in Votifier v1 a line feed would forge the fields after it. The separators U+2028
     * and U+2029 end no line there, and the listing takes names that have them.
     */
    private static String line(Map<?, ?> json, String field) {
        String text = text(json, field);
        if (text.isEmpty() || text.codePoints().anyMatch(
                point -> Character.isISOControl(point) || (point >= 0xD800 && point <= 0xDFFF))) {
            throw new IllegalArgumentException(field + " is empty or has control characters");
        }
        return text;
    }

    private static long wholeNumber(Map<?, ?> json, String field) {
        Object value = json.get(field);
        if (!(value instanceof Number) || ((Number) value).doubleValue() != ((Number) value).longValue()
                || ((Number) value).longValue() < 0 || ((Number) value).longValue() > 1_000_000_000L) {
            throw new IllegalArgumentException(field + " is no whole number");
        }
        return ((Number) value).longValue();
    }
}
