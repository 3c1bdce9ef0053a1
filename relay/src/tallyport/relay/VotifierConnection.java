package tallyport.relay;

import java.io.ByteArrayOutputStream;
import java.io.Closeable;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.util.function.LongSupplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A connection to the vote plugin that has greeted. Every wait has a deadline, however slowly the bytes come. */
final class VotifierConnection implements Closeable {
    static final int CONNECT_MS = 5_000;
    static final int GREETING_MS = 5_000;
    private static final int LONGEST_GREETING = 256;
    private static final int LONGEST_ANSWER = 4_096;
    /** How often a wait looks whether its deadline has moved. */
    private static final int SLICE_MS = 250;
    /**
     * Version 2 and a challenge; "2.0" in go-votifier. A v1 plugin sends its own version, which may be "2.9", but no
     * challenge.
     */
    private static final Pattern V2 = Pattern.compile("VOTIFIER (?:2 +(\\S.*)|2\\.\\S* +(\\S+))");

    private final Socket socket;
    /** The challenge of Votifier v2, or null if the plugin speaks v1 only. */
    final String challenge;
    /** The first line as it came. */
    final String banner;

    private VotifierConnection(Socket socket, String banner) {
        this.socket = socket;
        this.banner = banner;
        Matcher v2 = V2.matcher(banner);
        challenge = !v2.matches() ? null : v2.group(1) != null ? v2.group(1) : v2.group(2);
    }

    /** No connection that a vote could be written to: the vote plugin cannot have got anything. */
    static final class NoGreeting extends Exception {
        /** Something answered, but no vote plugin. */
        final boolean anotherProtocol;

        NoGreeting(String message, boolean anotherProtocol) {
            super(message);
            this.anotherProtocol = anotherProtocol;
        }
    }

    /**
     * Connects and reads the greeting.
     *
     * @param deadline an earlier end, of {@link System#nanoTime}; asked again and again
     */
    static VotifierConnection open(VotifierInstall install, LongSupplier deadline) throws NoGreeting {
        Socket socket = new Socket();
        try {
            socket.connect(new InetSocketAddress(install.host, install.port), CONNECT_MS);
            socket.setTcpNoDelay(true);
            return new VotifierConnection(socket, greeting(socket, install, deadline));
        } catch (IOException error) {
            closeQuietly(socket);
            throw new NoGreeting("Votifier does not answer at " + install.address() + " (" + error.getMessage()
                    + "): is the game server running?", false);
        } catch (NoGreeting error) {
            closeQuietly(socket);
            throw error;
        }
    }

    private static String greeting(Socket socket, VotifierInstall install, LongSupplier deadline)
            throws IOException, NoGreeting {
        ByteArrayOutputStream line = new ByteArrayOutputStream();
        long end = System.nanoTime() + GREETING_MS * 1_000_000L;
        for (;;) {
            int next = readOne(socket, () -> Math.min(end, deadline.getAsLong()));
            String text = new String(line.toByteArray(), StandardCharsets.UTF_8).trim();
            if (next == TOO_LATE && text.isEmpty()) {
                throw new NoGreeting("what listens at " + install.address() + " sent no greeting in time: it is another program"
                        + " (check port in config.yml), or Votifier hangs (restart the game server)", false);
            }
            if (next == TOO_LATE || next == CLOSED) {
                throw new NoGreeting("Votifier at " + install.address()
                        + (next == CLOSED ? " closed the connection" : " sent no greeting in time")
                        + (text.isEmpty() ? "" : "; it said: " + Printable.line(text, 100)), false);
            }
            if (next == '\n' && (text.equals("VOTIFIER") || text.startsWith("VOTIFIER "))) {
                return text;
            }
            line.write(next);
            if (next == '\n' || line.size() > LONGEST_GREETING) {
                throw new NoGreeting("what listens at " + install.address() + " is not Votifier; it said: "
                        + Printable.line(text, 100), true);
            }
        }
    }

    /** What the plugin did after its greeting and before anything was written, or null if it waits as it should. */
    String interruption() {
        try {
            int next = readOne(socket, () -> System.nanoTime() + 1_000_000L);
            return next == TOO_LATE ? null : next == CLOSED ? "Votifier closed the connection after its greeting"
                    : "Votifier said something more after its greeting";
        } catch (IOException error) {
            return "Votifier closed the connection after its greeting (" + error.getMessage() + ")";
        }
    }

    void write(byte[] frame) throws IOException {
        socket.getOutputStream().write(frame);
    }

    /** How the wait for the answer ended. */
    static final class Answer {
        /** Null if no complete answer came. */
        final VotifierReply reply;
        /** The connection was closed, and nothing was said. */
        final boolean bareClose;
        /** For people, if no complete answer came. */
        final String end;

        Answer(VotifierReply reply, boolean bareClose, String end) {
            this.reply = reply;
            this.bareClose = bareClose;
            this.end = end;
        }
    }

    Answer answer(String username, LongSupplier deadline) {
        ByteArrayOutputStream received = new ByteArrayOutputStream();
        try {
            for (;;) {
                int next = readOne(socket, deadline);
                if (next < 0) {
                    boolean bare = next == CLOSED && received.size() == 0;
                    return new Answer(null, bare, next == CLOSED ? "Votifier closed the connection without an answer"
                            : "Votifier did not answer in time");
                }
                received.write(next);
                String text = new String(received.toByteArray(), StandardCharsets.UTF_8);
                VotifierReply reply = next == '}' || next == '\n' ? VotifierReply.of(text, username) : null;
                if (reply != null) {
                    return new Answer(reply, false, "");
                }
                if (received.size() >= LONGEST_ANSWER) {
                    return new Answer(null, false, "Votifier answered with something else");
                }
            }
        } catch (IOException error) {
            return new Answer(null, false, "the connection broke (" + error.getMessage() + ")");
        }
    }

    private static final int CLOSED = -1;
    private static final int TOO_LATE = -2;

    private static int readOne(Socket socket, LongSupplier deadline) throws IOException {
        for (;;) {
            long leftMs = (deadline.getAsLong() - System.nanoTime()) / 1_000_000L;
            if (leftMs < 0) {
                return TOO_LATE;
            }
            socket.setSoTimeout((int) Math.max(1, Math.min(SLICE_MS, leftMs)));
            try {
                return socket.getInputStream().read();
            } catch (SocketTimeoutException slice) {
                if (deadline.getAsLong() - System.nanoTime() <= 1_000_000L) {
                    return TOO_LATE;
                }
            }
        }
    }

    @Override
    public void close() {
        closeQuietly(socket);
    }

    private static void closeQuietly(Socket socket) {
        try {
            socket.close();
        } catch (IOException ignored) {
            // Nothing more is expected of it.
        }
    }
}
