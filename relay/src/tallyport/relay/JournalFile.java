package tallyport.relay;

import java.io.Closeable;
import java.io.File;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.function.Predicate;
import java.util.zip.CRC32;

/** A file of lines that only grows. Each line ends with a checksum, so that a line that was torn by a crash is told. */
final class JournalFile implements Closeable {
    private final Path path;
    private FileChannel channel;
    private long size;

    /**
     * Opens or makes the file.
     *
     * @param replay gets each whole line, oldest first. Lines that are torn or that it refuses are skipped: a line is
     *     complete on disk before anything happens that depends on it.
     */
    JournalFile(File file, Predicate<String> replay) throws IOException {
        path = file.toPath();
        if (Files.exists(path)) {
            for (String line : new String(Files.readAllBytes(path), StandardCharsets.UTF_8).split("\n")) {
                int end = line.lastIndexOf(" #");
                if (end > 0 && checksum(line.substring(0, end)).equals(line.substring(end + 2))) {
                    replay.test(line.substring(0, end));
                }
            }
        }
        open();
    }

    long size() {
        return size;
    }

    /** Adds a line. If that fails, the file is as before. */
    void append(String line, boolean force) throws IOException {
        if (!channel.isOpen()) {
            // An earlier attempt to open it failed, for example because the disk was full.
            open();
        }
        ByteBuffer bytes = encode(line);
        try {
            while (bytes.hasRemaining()) {
                channel.write(bytes, size + bytes.position());
            }
            if (force) {
                channel.force(false);
            }
            size += bytes.limit();
        } catch (IOException error) {
            cutBack(error);
            throw error;
        }
    }

    /** Replaces all lines at once: after a crash the file has the old ones or the new ones. */
    void replace(List<String> lines) throws IOException {
        Path next = path.resolveSibling(path.getFileName() + ".new");
        try (FileChannel written = FileChannel.open(next, StandardOpenOption.CREATE,
                StandardOpenOption.TRUNCATE_EXISTING, StandardOpenOption.WRITE)) {
            for (String line : lines) {
                ByteBuffer bytes = encode(line);
                while (bytes.hasRemaining()) {
                    written.write(bytes);
                }
            }
            written.force(true);
        }
        // Windows does not rename over an open file.
        channel.close();
        try {
            Files.move(next, path, StandardCopyOption.REPLACE_EXISTING, StandardCopyOption.ATOMIC_MOVE);
        } finally {
            open();
        }
    }

    @Override
    public void close() throws IOException {
        if (channel.isOpen()) {
            channel.force(true);
            channel.close();
        }
    }

    private void open() throws IOException {
        channel = FileChannel.open(path, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
        size = channel.size();
        try {
            if (size > 0) {
                // A torn last line must not take the next one with it.
                append("", false);
            }
        } catch (IOException error) {
            channel.close();
            throw error;
        }
    }

    private void cutBack(IOException error) {
        try {
            channel.truncate(size);
        } catch (IOException second) {
            error.addSuppressed(second);
        }
    }

    private static ByteBuffer encode(String line) {
        String text = line.isEmpty() ? "\n" : line + " #" + checksum(line) + "\n";
        return ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8));
    }

    private static String checksum(String line) {
        CRC32 crc = new CRC32();
        crc.update(line.getBytes(StandardCharsets.UTF_8));
        return Long.toHexString(crc.getValue());
    }
}
