package tallyport.relay;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.HttpURLConnection;
import java.net.SocketTimeoutException;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;

/** The listing's two requests: take votes, and answer for them. */
final class Site {
    private static final int CONNECT_MS = 10_000;
    private static final int LARGEST_ANSWER = 1 << 20;
    private static final int LEASE_SECONDS = 60;
    /** Beyond the time that the listing itself waits for votes. */
    private static final int MARGIN_MS = 15_000;
    /** How often a request that waits looks whether it is over. */
    private static final int LOOK_MS = 1_000;

    private final Settings settings;
    private final String userAgent;
    /** The request for votes that is under way. */
    private FutureTask<Answer> waiting;
    private boolean ended;

    Site(Settings settings, String edition) {
        this.settings = settings;
        userAgent = "tallyport-relay/" + Version.OWN + " (Java "
                + Printable.line(System.getProperty("java.version", "?"), 40) + "; " + edition + ")";
    }

    /** The listing's answer to "take". */
    static final class Taken {
        final List<Delivery> deliveries = new ArrayList<>();
        /** How many elements are no deliveries. */
        int unreadable;
        /** What is wrong with the first of them. */
        String firstProblem = "";
        boolean paused;
    }

    /** The listing's answer to "done". */
    static final class Settled {
        /** By vote id: an empty text if the listing has settled it, else the code with which it refused. */
        final Map<String, String> ends = new LinkedHashMap<>();
        /** Whether the owner has chosen that the server fetches its votes. */
        boolean fetching;
        boolean paused;
    }

    /** The connection broke before a status came. */
    static final class Cut extends IOException {
        Cut(IOException cause) {
            super(cause.getMessage(), cause);
        }
    }

    /** A finished exchange. */
    static final class Answer {
        final int status;
        final String body;
        final String retryAfter;
        final String location;
        /** Java keeps the body of a 401 to itself: this header tells whose answer it is. */
        final String challenge;

        Answer(int status, String body, HttpURLConnection connection) {
            this.status = status;
            this.body = body;
            retryAfter = connection.getHeaderField("Retry-After");
            location = connection.getHeaderField("Location");
            challenge = connection.getHeaderField("WWW-Authenticate");
        }
    }

    /**
     * Asks for votes and waits until some are due.
     *
     * @param requestId the same id brings the same votes again, as long as their leases run
     * @param over asked once a second: the request is given up when it says so
     */
    Taken take(String requestId, int max, int waitSeconds, BooleanSupplier over) throws SiteProblem {
        Map<String, Object> body = new LinkedHashMap<>();
        body.put("max", max);
        body.put("wait_seconds", waitSeconds);
        body.put("lease_seconds", LEASE_SECONDS);
        body.put("request_id", requestId);
        int deadlineMs = waitSeconds * 1_000 + MARGIN_MS;
        AtomicReference<HttpURLConnection> opened = new AtomicReference<>();
        FutureTask<Answer> task = request("/deliveries/take", body, deadlineMs, opened);
        waitFor(task);
        Map<?, ?> answer = run(task, deadlineMs, opened, over);
        waitFor(null);
        Object deliveries = answer.get("deliveries");
        if (!(deliveries instanceof List)) {
            throw SiteProblem.unreadable();
        }
        Taken taken = new Taken();
        taken.paused = Boolean.TRUE.equals(answer.get("paused"));
        for (Object element : (List<?>) deliveries) {
            try {
                taken.deliveries.add(Delivery.of(element, System.nanoTime()));
            } catch (IllegalArgumentException error) {
                taken.firstProblem = taken.unreadable++ == 0 ? error.getMessage() : taken.firstProblem;
            }
        }
        return taken;
    }

    /** Tells how hand-overs ended. Each vote id may be among the results once. */
    Settled done(List<Told> results) throws SiteProblem {
        List<Object> list = new ArrayList<>();
        for (Told told : results) {
            Map<String, Object> result = new LinkedHashMap<>();
            result.put("vote_id", told.voteId);
            result.put("lease", told.lease);
            result.put("outcome", told.outcome.word());
            if (!told.reason.isEmpty()) {
                result.put("reason", told.reason);
            }
            list.add(result);
        }
        Map<String, Object> body = new LinkedHashMap<>();
        body.put("results", list);
        AtomicReference<HttpURLConnection> opened = new AtomicReference<>();
        Map<?, ?> answer = run(request("/deliveries/done", body, MARGIN_MS, opened), MARGIN_MS, opened, () -> false);
        if (!(answer.get("settled") instanceof List) || !(answer.get("refused") instanceof List)) {
            throw SiteProblem.unreadable();
        }
        Settled settled = new Settled();
        settled.fetching = !Boolean.FALSE.equals(answer.get("fetching"));
        settled.paused = Boolean.TRUE.equals(answer.get("paused"));
        for (Object voteId : (List<?>) answer.get("settled")) {
            settled.ends.put(String.valueOf(voteId), "");
        }
        for (Object refused : (List<?>) answer.get("refused")) {
            if (refused instanceof Map) {
                Map<?, ?> refusal = (Map<?, ?>) refused;
                settled.ends.put(String.valueOf(refusal.get("vote_id")), Printable.line(String.valueOf(refusal.get("code")), 60));
            }
        }
        return settled;
    }

    /** Ends the request for votes that is under way, and allows no other one. The listing keeps what it had taken for it. */
    synchronized void cut() {
        ended = true;
        if (waiting != null) {
            waiting.cancel(true);
        }
    }

    private synchronized void waitFor(FutureTask<Answer> task) {
        waiting = task;
        if (ended && task != null) {
            task.cancel(true);
        }
    }

    private FutureTask<Answer> request(String path, Map<String, Object> body, int deadlineMs, AtomicReference<HttpURLConnection> opened) {
        return new FutureTask<>(() -> exchange(path, Json.write(body), deadlineMs, opened));
    }

    /** Runs a request in a thread of its own: neither dripping bytes nor a name server can hold the relay for longer. */
    private static Map<?, ?> run(FutureTask<Answer> task, int deadlineMs, AtomicReference<HttpURLConnection> opened,
            BooleanSupplier over) throws SiteProblem {
        Thread thread = new Thread(task, "tallyport-relay request");
        thread.setDaemon(true);
        thread.start();
        try {
            return SiteProblem.bodyOf(answerOf(task, deadlineMs, over));
        } catch (TimeoutException | CancellationException | InterruptedException error) {
            throw SiteProblem.silent(deadlineMs);
        } catch (ExecutionException error) {
            throw SiteProblem.of(error.getCause());
        } finally {
            HttpURLConnection connection = opened.get();
            if (connection != null) {
                close(connection);
            }
        }
    }

    private static Answer answerOf(FutureTask<Answer> task, int deadlineMs, BooleanSupplier over)
            throws TimeoutException, InterruptedException, ExecutionException {
        long end = System.nanoTime() + deadlineMs * 1_000_000L;
        for (;;) {
            long leftMs = (end - System.nanoTime()) / 1_000_000L;
            try {
                return task.get(Math.min(leftMs, LOOK_MS), TimeUnit.MILLISECONDS);
            } catch (TimeoutException error) {
                if (leftMs <= LOOK_MS || over.getAsBoolean()) {
                    throw error;
                }
            }
        }
    }

    /** While the body is read, closing waits for the reader's lock, which a dripping body hardly ever leaves: not the relay. */
    private static void close(HttpURLConnection connection) {
        Thread thread = new Thread(connection::disconnect, "tallyport-relay close");
        thread.setDaemon(true);
        thread.start();
    }

    private Answer exchange(String path, String json, int deadlineMs, AtomicReference<HttpURLConnection> opened) throws IOException {
        long end = System.nanoTime() + deadlineMs * 1_000_000L;
        HttpURLConnection connection = (HttpURLConnection) new URL(settings.server + path).openConnection();
        opened.set(connection);
        byte[] bytes = json.getBytes(StandardCharsets.UTF_8);
        connection.setInstanceFollowRedirects(false);
        connection.setUseCaches(false);
        connection.setConnectTimeout(CONNECT_MS);
        connection.setReadTimeout(deadlineMs);
        connection.setRequestMethod("POST");
        connection.setDoOutput(true);
        // If the length is not fixed, Java itself sends a request a second time when a connection breaks.
        connection.setFixedLengthStreamingMode(bytes.length);
        connection.setRequestProperty("Authorization", "Bearer " + settings.key);
        connection.setRequestProperty("Content-Type", "application/json");
        connection.setRequestProperty("Accept", "application/json");
        connection.setRequestProperty("User-Agent", userAgent);
        connection.setRequestProperty("Connection", "close");
        try (OutputStream out = connection.getOutputStream()) {
            out.write(bytes);
        }
        int status = statusOf(connection);
        InputStream in = status >= 400 ? connection.getErrorStream() : connection.getInputStream();
        return new Answer(status, in == null ? "" : read(in, end), connection);
    }

    private static int statusOf(HttpURLConnection connection) throws IOException {
        try {
            return connection.getResponseCode();
        } catch (SocketTimeoutException error) {
            throw error;
        } catch (IOException error) {
            throw new Cut(error);
        }
    }

    /** @param end of {@link System#nanoTime}: a body that drips is not read on after it */
    private static String read(InputStream in, long end) throws IOException {
        ByteArrayOutputStream body = new ByteArrayOutputStream();
        byte[] part = new byte[8_192];
        for (int count = in.read(part); count >= 0; count = in.read(part)) {
            body.write(part, 0, count);
            if (body.size() > LARGEST_ANSWER) {
                throw new IOException("its answer is larger than 1 MB");
            }
            if (System.nanoTime() - end > 0) {
                throw new SocketTimeoutException("its answer drips");
            }
        }
        return new String(body.toByteArray(), StandardCharsets.UTF_8);
    }
}
