package tallyport.relay;

import java.net.ConnectException;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.format.DateTimeFormatter;
import java.util.Collections;
import java.util.Map;
import javax.net.ssl.SSLException;

/** Why a request to the listing brought nothing; the message says what to do. */
final class SiteProblem extends Exception {
    private static final long LONGEST_WAIT_MS = 3_600_000;

    enum Kind {
        /** The listing or the network is away: again soon. */
        DOWN,
        /** The listing names the time of the next request. */
        BUSY,
        /** The listing or the relay must be set up otherwise. */
        SETTING,
        /** The key is refused. */
        KEY,
        /** The listing does not understand the request: it must not be repeated. */
        REQUEST
    }

    final Kind kind;
    /** How long the listing wants the relay to wait, or 0. */
    final long waitMs;
    /** The connection was there, and broke before a status came: perhaps a proxy cuts requests that wait. */
    final boolean cut;

    private SiteProblem(Kind kind, String message, long waitMs) {
        this(kind, message, waitMs, false);
    }

    private SiteProblem(Kind kind, String message, long waitMs, boolean cut) {
        super(message);
        this.kind = kind;
        this.waitMs = waitMs;
        this.cut = cut;
    }

    private static SiteProblem down(String message) {
        return down(message, false);
    }

    private static SiteProblem down(String message, boolean cut) {
        return new SiteProblem(Kind.DOWN, "the listing cannot be reached: " + message, 0, cut);
    }

    static SiteProblem silent(int ms) {
        return down("it did not answer within " + ms / 1_000 + " s: it is overloaded, or the address in server= is of"
                + " something else");
    }

    static SiteProblem notFetching() {
        return new SiteProblem(Kind.SETTING, "the listing does not let this server fetch its votes: choose"
                + " \"My server fetches its votes\" on the page \"Vote listener\"", 0);
    }

    static SiteProblem unreadable() {
        return new SiteProblem(Kind.DOWN, "the listing's answer is not understood: is the address in server= right?", 0);
    }

    static SiteProblem of(Throwable error) {
        String words = Printable.line(String.valueOf(error.getMessage()), 200);
        if (error instanceof UnknownHostException) {
            return down("its name cannot be resolved (" + words + ")");
        }
        if (error instanceof SSLException) {
            return down(TlsProblem.of((SSLException) error));
        }
        if (error instanceof ConnectException || error instanceof SocketTimeoutException) {
            return down(words);
        }
        return down("the connection broke (" + words + ")", error instanceof Site.Cut);
    }

    /**
     * The JSON object of a good answer.
     *
     * @throws SiteProblem for every other answer
     */
    static Map<?, ?> bodyOf(Site.Answer answer) throws SiteProblem {
        Object body = Collections.emptyMap();
        try {
            body = Json.parse(answer.body);
        } catch (IllegalArgumentException error) {
            if (answer.status == 200) {
                throw unreadable();
            }
        }
        Map<?, ?> fields = body instanceof Map ? (Map<?, ?>) body : Collections.emptyMap();
        if (answer.status != 200) {
            throw ofStatus(answer, fields);
        }
        return fields;
    }

    private static SiteProblem ofStatus(Site.Answer answer, Map<?, ?> fields) {
        long waitMs = waitOf(answer.retryAfter, fields.get("next_allowed_at"));
        if (answer.status >= 300 && answer.status < 400) {
            return new SiteProblem(Kind.SETTING, "the listing is at another address ("
                    + Printable.line(String.valueOf(answer.location), 150)
                    + "), and the key is not sent there unasked: change server= in " + Settings.FILE_NAME, 0);
        }
        boolean ours = answer.status == 401 ? String.valueOf(answer.challenge).startsWith("Bearer")
                : fields.get("code") instanceof String;
        if (!ours) {
            return ofOthers(answer.status, waitMs);
        }
        switch (answer.status) {
            case 401:
                return new SiteProblem(Kind.KEY, "the key was refused: it is not whole, was revoked or has expired, or it is"
                        + " of another server than server= names. Copy both lines from the page \"Connect\" of your server"
                        + " into " + Settings.FILE_NAME + "; it also creates a new key", waitMs);
            case 403:
                return new SiteProblem(Kind.KEY, "the key may not fetch votes: issue one for fetching on the page"
                        + " \"Connect\" of your server and put it into " + Settings.FILE_NAME, waitMs);
            case 404:
                return new SiteProblem(Kind.SETTING, "the listing has nothing at this address: check server= in "
                        + Settings.FILE_NAME + "; or the listing is older than 0.2.0 and cannot be fetched from", waitMs);
            case 422:
                return notFetching();
            case 429:
                return new SiteProblem(Kind.BUSY, "the listing asks the relay to wait (429): too many relays or programs"
                        + " fetch the votes of this server, or of all servers of your account. One relay for each server is"
                        + " enough", waitMs);
            case 400:
            case 413:
                return new SiteProblem(Kind.REQUEST, "the listing does not understand the relay (" + answer.status
                        + "): a newer relay may help", waitMs);
            default:
                return new SiteProblem(Kind.DOWN, "the listing answered " + answer.status, waitMs);
        }
    }

    /** An answer without an error of the listing's API: it says nothing about the key. */
    private static SiteProblem ofOthers(int status, long waitMs) {
        if (status == 404) {
            return new SiteProblem(Kind.SETTING, "what answers there is no Tallyport listing (HTTP 404): check server= in "
                    + Settings.FILE_NAME, waitMs);
        }
        if (status >= 500) {
            return new SiteProblem(Kind.DOWN, "the listing cannot be reached: a proxy in front of it answered with HTTP "
                    + status, waitMs);
        }
        Kind kind = status == 400 || status == 413 ? Kind.REQUEST : Kind.DOWN;
        return new SiteProblem(kind, "something between this machine and the listing, such as a filter, answered with HTTP "
                + status + "; the key was not looked at. Ask the listing's operator, then your hosting company, to let the"
                + " relay through", waitMs);
    }

    /** Retry-After in seconds or as a date, else the time in the body; at most an hour. */
    private static long waitOf(String retryAfter, Object nextAllowedAt) {
        long ms = 0;
        try {
            if (retryAfter != null && retryAfter.trim().matches("[0-9]{1,9}")) {
                ms = Long.parseLong(retryAfter.trim()) * 1_000;
            } else if (retryAfter != null) {
                ms = Duration.between(Instant.now(),
                        Instant.from(DateTimeFormatter.RFC_1123_DATE_TIME.parse(retryAfter.trim()))).toMillis();
            } else if (nextAllowedAt instanceof String) {
                ms = Duration.between(Instant.now(), OffsetDateTime.parse((String) nextAllowedAt)).toMillis();
            }
        } catch (DateTimeException | ArithmeticException error) {
            ms = 0;
        }
        return Math.max(0, Math.min(ms, LONGEST_WAIT_MS));
    }
}
