package tallyport.relay;

import java.io.File;
import java.io.IOException;
import java.net.MalformedURLException;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The relay's configuration: which server of which listing, and the key that may fetch its votes. */
final class Settings {
    static final String FILE_NAME = "tallyport-relay.properties";
    private static final List<String> NAMES = Arrays.asList("server", "key", "votifier");
    private static final String QUOTE = "[\"'`\u2018-\u201F\u00AB\u00BB]";
    private static final String[] TEMPLATE = {
        "# The Tallyport relay fetches this server's votes from its listing and hands them to the installed Votifier.",
        "# Copy both lines from the page \"Connect\" of your server. The relay reads this file again when it changes.",
        "# server=https://listing.example/api/v1/servers/0123456789abcdef01234567",
        "server=",
        "key=",
        "# Only if Votifier is in another folder than plugins/Votifier or plugins/VotifierPlus:",
        "# votifier=/path/to/plugins/Votifier",
    };

    /** The server at the listing's API, without a slash at its end. */
    final String server;
    final String key;
    /** The folder of the vote plugin or of its game server, or null. */
    final String votifier;

    private Settings(Map<String, String> values, File file) throws Invalid {
        server = values.getOrDefault("server", "").replaceAll("/+$", "");
        key = values.getOrDefault("key", "");
        votifier = values.get("votifier");
        if (server.isEmpty() || key.isEmpty()) {
            throw new Invalid("fill in " + (server.isEmpty() ? "server=" : "key=") + " in " + file.getPath()
                    + "; the page \"Connect\" of your server has the lines");
        }
        String problem = problemOf(server);
        if (problem != null) {
            throw new Invalid("server= in " + file.getPath() + " " + problem);
        }
        if (!key.matches("[!-~]{1,300}")) {
            throw new Invalid("key= in " + file.getPath() + " is no key: it has spaces or other characters");
        }
    }

    /** The configuration cannot be used; the message says what to change. */
    static final class Invalid extends Exception {
        Invalid(String message) {
            super(message);
        }
    }

    /** Reads lines "name=value"; a backslash is a backslash, so that paths of Windows stay whole. */
    static Settings read(File file) throws Invalid {
        Map<String, String> values = new HashMap<>();
        for (String line : lines(file)) {
            String content = line.replace("\uFEFF", "").trim();
            if (content.isEmpty() || content.startsWith("#")) {
                continue;
            }
            int equals = content.indexOf('=');
            String name = (equals < 0 ? content : content.substring(0, equals)).trim();
            if (equals < 0 || !NAMES.contains(name)) {
                throw new Invalid(file.getPath() + " has a line that is none of server=, key= and votifier=: "
                        + Printable.line(name, 40));
            }
            String value = content.substring(equals + 1).trim();
            refuseMiscopied(name, value, file);
            if (!value.isEmpty()) {
                values.put(name, value);
            }
        }
        return new Settings(values, file);
    }

    private static void refuseMiscopied(String name, String value, File file) throws Invalid {
        if (!name.equals("votifier") && value.matches(".*(server|key)\\s*=.*")) {
            throw new Invalid("server= and key= are in one line of " + file.getPath() + ": each needs a line of its own");
        }
        if (value.matches(QUOTE + ".*|.*" + QUOTE)) {
            throw new Invalid(name + "= in " + file.getPath() + " has quotes around it: remove them");
        }
    }

    /**
     * Writes a file with comments and empty values, which only its owner may read where the system knows that.
     *
     * @return false if there is a file already
     */
    static boolean writeTemplate(File file) throws IOException {
        if (file.exists()) {
            return false;
        }
        Path path = file.toPath();
        if (file.getAbsoluteFile().getParentFile() != null) {
            Files.createDirectories(file.getAbsoluteFile().getParentFile().toPath());
        }
        try {
            Files.createFile(path, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
        } catch (UnsupportedOperationException windows) {
            Files.createFile(path);
        }
        Files.write(path, Arrays.asList(TEMPLATE), StandardCharsets.UTF_8);
        return true;
    }

    private static List<String> lines(File file) throws Invalid {
        try {
            String text = new String(Files.readAllBytes(file.toPath()), StandardCharsets.UTF_8);
            if (text.indexOf('\0') >= 0) {
                throw new Invalid(file.getPath() + " is saved as UTF-16 (\"Unicode\"): save it as UTF-8");
            }
            return Arrays.asList(text.split("\r?\n"));
        } catch (IOException error) {
            throw new Invalid(file.getPath() + (file.exists() ? " cannot be read: " + error.getMessage() : " is not there"));
        }
    }

    /** @return null, or what is wrong with the address */
    private static String problemOf(String server) {
        URL url;
        try {
            url = new URL(server);
        } catch (MalformedURLException error) {
            return "is no address: it begins with https://";
        }
        boolean own = Arrays.asList("localhost", "127.0.0.1", "[::1]").contains(url.getHost());
        if (!url.getProtocol().equals("https") && !(url.getProtocol().equals("http") && own)) {
            return "must begin with https://, so that nobody else reads the key";
        }
        if (!url.getPath().matches(".*/api/v1/servers/[^/]+") || url.getQuery() != null || url.getUserInfo() != null) {
            return "must have the form https://LISTING/api/v1/servers/ID";
        }
        String id = url.getPath().replaceAll(".*/", "");
        if (!id.matches("[0-9a-f]{24}")) {
            return "ends with " + Printable.line(id, 40) + ", which is no id of a server: it has 24 digits and letters from a"
                    + " to f. Copy the line from the page \"Connect\" of your server";
        }
        return null;
    }
}
