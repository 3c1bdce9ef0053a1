package tallyport.relay;

import java.io.File;
import java.io.IOException;
import java.security.GeneralSecurityException;
import java.util.List;
import java.util.function.LongSupplier;

/** Hands votes to the vote plugin on this machine, one vote a connection. */
final class HandOver {
    /** A handler in the plugin may take long, and the answer comes after it. */
    private static final long ANSWER_NANOS = 30_000_000_000L;

    /** What an end says about the next vote. */
    enum Trouble {
        NONE,
        /** The plugin was not reached, so nothing was written. */
        UNREACHABLE,
        /** No vote can arrive before somebody changes a setting. */
        CONFIGURATION,
        /** Something was written, and no answer came. */
        SILENT
    }

    /** How one vote ended. */
    static final class Result {
        final Outcome outcome;
        /** For the owner, empty if the vote arrived. */
        final String reason;
        final Trouble trouble;

        Result(Outcome outcome, String reason, Trouble trouble) {
            this.outcome = outcome;
            this.reason = Printable.line(reason, 200);
            this.trouble = trouble;
        }
    }

    /** Writes to the journal; called right before the first byte is sent. */
    interface BeforeWrite {
        /** @throws IOException if the journal cannot be written: then nothing is sent */
        void run() throws IOException;
    }

    private final List<File> folders;
    /** An earlier end of every wait, of {@link System#nanoTime}: the relay stops. */
    private final LongSupplier stopAt;
    private VotifierInstall install;
    private String stamp = "";
    /** Whether a v1 plugin has confirmed votes with its present settings: a bare close is then no "sent". */
    private boolean confirms;

    HandOver(List<File> folders, LongSupplier stopAt) {
        this.folders = folders;
        this.stopAt = stopAt;
    }

    /** Changes when the settings of the vote plugin change. */
    String stamp() {
        return VotifierInstall.stampOf(folders);
    }

    /** The vote plugin's present settings; its files are read again if they have changed. */
    VotifierInstall install() throws VotifierInstall.NotUsable {
        String now = stamp();
        if (install == null || !now.equals(stamp)) {
            install = VotifierInstall.find(folders);
            stamp = now;
            confirms = false;
        }
        return install;
    }

    /**
     * Whether the plugin is there and greets; no vote is sent.
     *
     * @return null, or what is wrong
     */
    Result look() {
        try {
            VotifierConnection.open(install(), stopAt).close();
            return null;
        } catch (VotifierInstall.NotUsable error) {
            return notHandedOver(error.getMessage(), Trouble.CONFIGURATION);
        } catch (VotifierConnection.NoGreeting error) {
            return notHandedOver(error.getMessage(), troubleOf(error));
        }
    }

    /** Makes one attempt; a second one at once if the plugin refused only the challenge. Never throws. */
    Result handOver(Delivery vote, BeforeWrite beforeWrite) {
        try {
            Result first = attempt(vote, beforeWrite);
            return first != null ? first : orElse(attempt(vote, beforeWrite));
        } catch (VotifierInstall.NotUsable error) {
            return notHandedOver(error.getMessage(), Trouble.CONFIGURATION);
        } catch (VotifierConnection.NoGreeting error) {
            return notHandedOver(error.getMessage(), troubleOf(error));
        } catch (GeneralSecurityException error) {
            return notHandedOver("this Java cannot encrypt or sign: " + error.getMessage(), Trouble.CONFIGURATION);
        }
    }

    private static Result orElse(Result second) {
        return second != null ? second
                : notHandedOver("Votifier refused its own challenge twice", Trouble.UNREACHABLE);
    }

    /** @return null if the plugin refused the challenge */
    private Result attempt(Delivery vote, BeforeWrite beforeWrite)
            throws VotifierInstall.NotUsable, VotifierConnection.NoGreeting, GeneralSecurityException {
        VotifierInstall target = install();
        try (VotifierConnection connection = VotifierConnection.open(target, stopAt)) {
            String token = target.tokenFor(vote.serviceName);
            boolean v2 = connection.challenge != null && token != null;
            if (!v2 && target.publicKey == null) {
                return notHandedOver(connection.challenge != null
                        ? "Votifier has no token for " + vote.serviceName + " in its config.yml, and " + target.keyProblem
                        : "this Votifier speaks v1 only, and " + target.keyProblem, Trouble.CONFIGURATION);
            }
            byte[] frame = v2 ? VotifierFrames.v2(vote, token, connection.challenge)
                    : VotifierFrames.v1(vote, target.publicKey);
            if (frame == null) {
                return new Result(Outcome.FAILED, "the name is too long for Votifier " + (v2 ? "v2" : "v1"), Trouble.NONE);
            }
            String interruption = connection.interruption();
            if (interruption != null) {
                return notHandedOver(interruption, Trouble.UNREACHABLE);
            }
            try {
                beforeWrite.run();
            } catch (IOException error) {
                return notHandedOver("the relay's journal cannot be written (" + error.getMessage()
                        + "): is the disk full?", Trouble.CONFIGURATION);
            }
            return exchange(connection, frame, vote, v2);
        }
    }

    private Result exchange(VotifierConnection connection, byte[] frame, Delivery vote, boolean v2) {
        try {
            connection.write(frame);
        } catch (IOException error) {
            return silent("the connection broke while the vote was written (" + error.getMessage() + ")");
        }
        long end = System.nanoTime() + ANSWER_NANOS;
        VotifierConnection.Answer answer =
                connection.answer(vote.username, () -> Math.min(end, stopAt.getAsLong()));
        if (answer.reply != null) {
            return ofReply(answer.reply, v2);
        }
        if (v2) {
            return silent(answer.bareClose
                    ? answer.end + ": the token may be wrong, or a plugin behind it failed" : answer.end);
        }
        if (answer.bareClose && !confirms) {
            return new Result(Outcome.SENT, "", Trouble.NONE);
        }
        return silent(answer.bareClose ? answer.end + ", though it confirmed votes before"
                : answer.end + ": its public key may have changed, restart the game server");
    }

    private Result ofReply(VotifierReply reply, boolean v2) {
        switch (reply.meaning) {
            case OK:
                confirms = !v2;
                return new Result(Outcome.DELIVERED, "", Trouble.NONE);
            case TOKEN:
                return notHandedOver("Votifier refused the token: " + reply.words, Trouble.CONFIGURATION);
            case KEY:
                return notHandedOver("Votifier refused the public key: " + reply.words, Trouble.CONFIGURATION);
            case V2_ONLY:
                return notHandedOver("Votifier takes v2 only, and its config.yml has no token: " + reply.words,
                        Trouble.CONFIGURATION);
            case CHALLENGE:
                return null;
            case THIS_VOTE:
                return new Result(Outcome.FAILED, reply.words, Trouble.NONE);
            case OTHER:
                return notHandedOver("Votifier answered: " + reply.words, Trouble.UNREACHABLE);
            default:
                return silent("Votifier answered with something else: " + reply.words);
        }
    }

    private static Trouble troubleOf(VotifierConnection.NoGreeting error) {
        return error.anotherProtocol ? Trouble.CONFIGURATION : Trouble.UNREACHABLE;
    }

    private static Result notHandedOver(String reason, Trouble trouble) {
        return new Result(Outcome.RETRY, reason, trouble);
    }

    private static Result silent(String reason) {
        return new Result(Outcome.UNKNOWN, reason, Trouble.SILENT);
    }
}
