package tallyport.relay;

import java.io.Closeable;
import java.io.File;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What the relay did with each sending of a vote, on disk before and after it did it. A sending is a vote id and the
 * number that the listing counts: the same pair is never handed over twice, another number is another sending.
 *
 * <p>Not safe for several threads. A lock keeps a second relay out.
 */
final class Journal implements Closeable {
    private static final String LOCK = "tallyport-relay.lock";
    private static final String JOURNAL = "tallyport-relay.journal";
    private static final long KEPT_MS = 30L * 24 * 60 * 60 * 1_000;
    private static final long LARGEST_FILE = 4L << 20;
    /** Of some 90 bytes each: a compacted journal has at most half the largest size. */
    private static final int MOST_ENTRIES = 16_000;

    /** One sending of a vote. */
    static final class Entry {
        final String voteId;
        final long sending;
        String lease;
        /** When something was last written about it, in milliseconds. */
        long at;
        /** Null from before the hand-over until it has ended. */
        Outcome outcome;
        String reason = "";
        /** The listing has answered for this outcome. */
        boolean settled;

        Entry(String voteId, long sending, String lease, long at) {
            this.voteId = voteId;
            this.sending = sending;
            this.lease = lease;
            this.at = at;
        }

        boolean mayHaveArrived() {
            return outcome != Outcome.RETRY && outcome != Outcome.FAILED;
        }
    }

    /** Another relay uses this folder. */
    static final class InUse extends IOException {
        InUse(File folder) {
            super("another relay uses " + folder.getPath());
        }
    }

    private final FileChannel lockFile;
    private final JournalFile file;
    private final Map<String, Entry> entries = new LinkedHashMap<>();
    private String requestId = "";

    /**
     * Opens or makes the journal in a folder.
     *
     * @throws InUse if another process, or another plugin of this one, has it open
     */
    Journal(File folder) throws IOException {
        String problem = problemIn(folder);
        if (problem != null) {
            throw new IOException(problem);
        }
        lockFile = FileChannel.open(new File(folder, LOCK).toPath(),
                StandardOpenOption.CREATE, StandardOpenOption.WRITE);
        try {
            if (!locked()) {
                throw new InUse(folder);
            }
            file = new JournalFile(new File(folder, JOURNAL), this::replay);
        } catch (IOException | RuntimeException error) {
            lockFile.close();
            throw error;
        }
        try {
            compact();
        } catch (IOException error) {
            // If the disk is full, the file is as before, and the first line that is written says so.
        }
    }

    /**
     * Looks at the files of the journal, and writes nothing.
     *
     * @return null, or why it cannot be used
     */
    static String problemIn(File folder) {
        for (String name : new String[] {LOCK, JOURNAL}) {
            File file = new File(folder, name);
            if (file.isDirectory()) {
                return file.getPath() + " is a folder: rename it, the relay needs a file of this name";
            }
            if (!Files.isWritable((file.exists() ? file : folder).toPath())) {
                return file.getPath() + " cannot be written: the user who runs the relay may not";
            }
        }
        return null;
    }

    private boolean locked() throws IOException {
        try {
            FileLock lock = lockFile.tryLock();
            return lock != null;
        } catch (OverlappingFileLockException error) {
            return false;
        }
    }

    /** The id of the last request for votes; after a crash it brings the same votes again while their leases run. */
    String requestId() {
        return requestId;
    }

    /** A new id for the next request for votes. */
    void beginRequest(String id) throws IOException {
        makeRoom();
        append(false, "take", id);
    }

    /** @return the sending, or null if nothing was written about it */
    Entry find(String voteId, long sending) {
        return entries.get(key(voteId, sending));
    }

    /** What the listing must still be told, oldest first. A hand-over that has not ended is among it. */
    List<Entry> unsettled() {
        List<Entry> open = new ArrayList<>();
        for (Entry entry : entries.values()) {
            if (!entry.settled) {
                open.add(entry);
            }
        }
        return open;
    }

    /** Before a hand-over. It is on disk when this returns; if it throws, the vote must not be handed over. */
    void begin(Delivery vote) throws IOException {
        makeRoom();
        append(true, "begin", vote.voteId, vote.sending, vote.lease);
    }

    /** After a hand-over. If the disk is full, the outcome is known until the process ends; after that it is unknown. */
    void end(Entry entry, Outcome outcome, String reason) throws IOException {
        entry.outcome = outcome;
        entry.reason = reason;
        append(true, "end", entry.voteId, entry.sending, outcome.word(), reason);
    }

    /** The listing has answered for the outcome. If this is lost, the same outcome is told once more. */
    void settled(Entry entry) throws IOException {
        entry.settled = true;
        append(false, "settled", entry.voteId, entry.sending);
    }

    @Override
    public void close() throws IOException {
        try {
            file.close();
        } finally {
            lockFile.close();
        }
    }

    private void append(boolean force, Object... words) throws IOException {
        StringBuilder line = new StringBuilder().append(System.currentTimeMillis());
        for (Object word : words) {
            line.append(' ').append(word);
        }
        file.append(line.toString().trim(), force);
        replay(line.toString().trim());
    }

    /** Applies one line of the file. */
    private boolean replay(String line) {
        String[] words = line.split(" ", 6);
        try {
            long at = Long.parseLong(words[0]);
            if (words[1].equals("take")) {
                requestId = words[2];
                return true;
            }
            String voteId = words[2];
            long sending = Long.parseLong(words[3]);
            if (words[1].equals("begin")) {
                entries.remove(key(voteId, sending));
                entries.put(key(voteId, sending), new Entry(voteId, sending, words[4], at));
                return true;
            }
            if (words[1].equals("done")) {
                Entry past = new Entry(voteId, sending, "-", at);
                past.outcome = Outcome.of(words[4]);
                past.settled = true;
                entries.put(key(voteId, sending), past);
                return past.outcome != null;
            }
            Entry entry = find(voteId, sending);
            if (entry == null) {
                return false;
            }
            entry.at = at;
            if (words[1].equals("settled")) {
                entry.settled = true;
                return true;
            }
            entry.outcome = Outcome.of(words[4]);
            entry.reason = words.length > 5 ? words[5] : "";
            return words[1].equals("end") && entry.outcome != null;
        } catch (NumberFormatException | ArrayIndexOutOfBoundsException error) {
            return false;
        }
    }

    private void makeRoom() throws IOException {
        if (file.size() > LARGEST_FILE) {
            compact();
        }
    }

    /**
     * Writes the file anew without settled entries that are older than 30 days and, beyond the limit, without the oldest
     * settled ones. If the clock jumps: what the listing has not been told stays.
     */
    private void compact() throws IOException {
        long oldest = System.currentTimeMillis() - KEPT_MS;
        int surplus = entries.size() - MOST_ENTRIES;
        for (Iterator<Entry> each = entries.values().iterator(); each.hasNext();) {
            Entry entry = each.next();
            if (entry.settled && (entry.at < oldest || surplus > 0)) {
                each.remove();
                surplus--;
            }
        }
        List<String> lines = new ArrayList<>();
        if (!requestId.isEmpty()) {
            lines.add(System.currentTimeMillis() + " take " + requestId);
        }
        for (Entry entry : entries.values()) {
            String pair = entry.voteId + " " + entry.sending;
            if (entry.settled && entry.outcome != null) {
                lines.add(entry.at + " done " + pair + " " + entry.outcome.word());
                continue;
            }
            lines.add(entry.at + " begin " + pair + " " + entry.lease);
            if (entry.outcome != null) {
                lines.add((entry.at + " end " + pair + " " + entry.outcome.word() + " " + entry.reason).trim());
            }
        }
        file.replace(lines);
    }

    private static String key(String voteId, long sending) {
        return voteId + " " + sending;
    }
}
