package tallyport.relay;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.PublicKey;
import java.security.interfaces.RSAPublicKey;
import java.security.spec.X509EncodedKeySpec;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Collections;
import java.util.List;
import java.util.Map;

/** The vote plugin on this machine, as its own folder describes it. */
final class VotifierInstall {
    /** The folders of NuVotifier and the original Votifier, of VotifierPlus, and of NuVotifier on BungeeCord. */
    private static final String[] FOLDERS = {"Votifier", "VotifierPlus", "NuVotifier"};
    private static final int DEFAULT_PORT = 8192;
    private static final long LARGEST_FILE = 1 << 20;

    final File folder;
    final String host;
    final int port;
    /** The tokens of Votifier v2 by service name; "default" is for all others. */
    private final Map<String, String> tokens;
    /** The key of Votifier v1, or null. */
    final PublicKey publicKey;
    /** Why there is no key. */
    final String keyProblem;

    private VotifierInstall(File folder) throws NotUsable {
        this.folder = folder;
        String text = read(new File(folder, "config.yml"));
        boolean isBlank = text.trim().isEmpty();
        SimpleYaml yaml = SimpleYaml.parse(text);
        if (yaml.values.isEmpty()) {
            String path = new File(folder, "config.yml").getPath();
            throw new NotUsable(isBlank ? path + " is empty: delete it and restart the game server, then Votifier writes a new one"
                    : path + " has no setting at the beginning of a line, as Votifier's own file has: is it saved as UTF-8?");
        }
        String named = yaml.values.getOrDefault("host", "");
        boolean everyAddress = named.isEmpty() || named.equals("0.0.0.0") || named.equals("::")
                || named.equals("0:0:0:0:0:0:0:0") || named.startsWith("%");
        host = everyAddress ? "127.0.0.1" : named;
        port = portOf(yaml.values.getOrDefault("port", String.valueOf(DEFAULT_PORT)));
        tokens = yaml.sections.getOrDefault("tokens", Collections.emptyMap());
        PublicKey key = null;
        String problem = "";
        File file = new File(folder, "rsa/public.key");
        try {
            key = keyOf(read(file));
        } catch (NotUsable error) {
            problem = error.getMessage();
        }
        publicKey = key;
        keyProblem = problem;
    }

    /** The vote plugin cannot be used as it is; the message says why and what helps. */
    static final class NotUsable extends Exception {
        NotUsable(String message) {
            super(message);
        }
    }

    /** Where a vote plugin may be, for a game server in `folder`, which may also be its plugins folder. */
    static List<File> foldersIn(File folder) {
        List<File> folders = new ArrayList<>();
        for (File parent : new File[] {new File(folder, "plugins"), folder}) {
            for (String name : FOLDERS) {
                folders.add(new File(parent, name));
            }
        }
        return folders;
    }

    /**
     * Reads the first of these folders that has a config.yml.
     *
     * @throws NotUsable if there is none, or its port is not usable
     */
    static VotifierInstall find(List<File> folders) throws NotUsable {
        for (File folder : folders) {
            if (new File(folder, "config.yml").isFile()) {
                return new VotifierInstall(folder);
            }
        }
        StringBuilder looked = new StringBuilder();
        for (File folder : folders) {
            looked.append(looked.length() == 0 ? "" : ", ").append(folder.getPath());
        }
        throw new NotUsable("Votifier was not found: no config.yml in " + looked + ". Install NuVotifier or another"
                + " Votifier and start the game server once, or name its folder: votifier=FOLDER");
    }

    /** @return the token for a voting site, or null if there is none */
    String tokenFor(String serviceName) {
        String token = tokens.get(serviceName);
        token = token == null || token.isEmpty() ? tokens.get("default") : token;
        return token == null || token.isEmpty() || token.startsWith("%") ? null : token;
    }

    /** Whether any voting site has a token. */
    boolean hasToken() {
        for (String serviceName : tokens.keySet()) {
            if (tokenFor(serviceName) != null) {
                return true;
            }
        }
        return false;
    }

    /** Where the vote plugin listens, for messages. */
    String address() {
        return host + ":" + port;
    }

    /** Changes whenever one of the files changes. */
    static String stampOf(List<File> folders) {
        StringBuilder stamp = new StringBuilder();
        for (File folder : folders) {
            for (String name : new String[] {"config.yml", "rsa/public.key"}) {
                File file = new File(folder, name);
                stamp.append(file.lastModified()).append('/').append(file.length()).append(' ');
            }
        }
        return stamp.toString();
    }

    private int portOf(String text) throws NotUsable {
        try {
            int number = Integer.parseInt(text);
            if (number > 0 && number <= 65_535) {
                return number;
            }
        } catch (NumberFormatException ignored) {
            // Said below.
        }
        throw new NotUsable("Votifier does not listen: port is " + Printable.line(text, 40) + " in "
                + new File(folder, "config.yml").getPath() + ". Set a port such as 8192 and restart the game server");
    }

    private static String read(File file) throws NotUsable {
        try {
            if (file.length() > LARGEST_FILE) {
                throw new IOException("it is larger than 1 MB");
            }
            String text = new String(Files.readAllBytes(file.toPath()), StandardCharsets.UTF_8);
            return text.startsWith("\uFEFF") ? text.substring(1) : text;
        } catch (IOException error) {
            String cause = file.isFile() ? "cannot be read (" + error.getMessage() + ")" : "is not there";
            throw new NotUsable(file.getPath() + " " + cause);
        }
    }

    private PublicKey keyOf(String text) throws NotUsable {
        File file = new File(folder, "rsa/public.key");
        try {
            byte[] der = Base64.getMimeDecoder().decode(text.replaceAll("-----[A-Z ]+-----", ""));
            PublicKey key = KeyFactory.getInstance("RSA").generatePublic(new X509EncodedKeySpec(der));
            int bits = ((RSAPublicKey) key).getModulus().bitLength();
            if (bits != 2_048) {
                throw new NotUsable(file.getPath() + " has " + bits + " bits; Votifier takes 2048");
            }
            return key;
        } catch (GeneralSecurityException | IllegalArgumentException error) {
            throw new NotUsable(file.getPath() + " is no RSA public key");
        }
    }
}
