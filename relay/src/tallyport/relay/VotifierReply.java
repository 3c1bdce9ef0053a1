package tallyport.relay;

import java.util.LinkedHashSet;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;

/** What a vote plugin answered to a frame. */
final class VotifierReply {
    /** What an error answer is about. */
    enum Meaning { OK, TOKEN, KEY, V2_ONLY, CHALLENGE, THIS_VOTE, OTHER, GARBAGE }

    final Meaning meaning;
    /** The plugin's own words, for one line. */
    final String words;

    private VotifierReply(Meaning meaning, String words) {
        this.meaning = meaning;
        this.words = Printable.line(words, 150).trim();
    }

    /**
     * Reads what came so far. The answer is one JSON object; a line that is none ends it too.
     *
     * @param username a plugin may repeat the player's name in its words: a player called "signature" must not look like
     *     a wrong token
     * @return null while more must come
     */
    static VotifierReply of(String received, String username) {
        String text = received.trim();
        if (text.startsWith("{")) {
            int end = objectEnd(text);
            return end < 0 ? null : ofObject(text.substring(0, end + 1), username);
        }
        return received.trim().isEmpty() || received.indexOf('\n') < 0
                ? null : new VotifierReply(Meaning.GARBAGE, text);
    }

    private static VotifierReply ofObject(String text, String username) {
        Object answer;
        try {
            answer = Json.parse(text);
        } catch (IllegalArgumentException error) {
            return new VotifierReply(Meaning.GARBAGE, text);
        }
        String status = field(answer, "status");
        if (status.equals("ok")) {
            return new VotifierReply(Meaning.OK, "");
        }
        if (!status.equals("error")) {
            return new VotifierReply(Meaning.GARBAGE, text);
        }
        Set<String> said = new LinkedHashSet<>();
        for (String name : new String[] {"cause", "error", "errormessage"}) {
            if (!field(answer, name).trim().isEmpty()) {
                said.add(field(answer, name));
            }
        }
        String words = said.isEmpty() ? text : String.join(": ", said);
        return new VotifierReply(meaningOf(words, username), words);
    }

    /** A field in any case: a plugin in Go writes "Status". */
    private static String field(Object answer, String name) {
        for (Map.Entry<?, ?> field : ((Map<?, ?>) answer).entrySet()) {
            if (name.equals(String.valueOf(field.getKey()).toLowerCase(Locale.ROOT))
                    && field.getValue() instanceof String) {
                return (String) field.getValue();
            }
        }
        return "";
    }

    /** The words of known plugins. The more specific ones come first. */
    private static final Object[][] MEANINGS = {
        {"only accepts well-formed votifier v2|v1 protocol is disabled", Meaning.V2_ONLY},
        {"unknown service|no token configured for service", Meaning.TOKEN},
        {"adjusted frame length exceeds|username too long", Meaning.THIS_VOTE},
        {"\\bchallenge\\b", Meaning.CHALLENGE},
        {"\\bsignature\\b", Meaning.TOKEN},
        {"\\bdecrypt", Meaning.KEY},
    };

    private static Meaning meaningOf(String words, String username) {
        for (Object[] known : MEANINGS) {
            Pattern pattern = Pattern.compile((String) known[0], Pattern.CASE_INSENSITIVE);
            if (pattern.matcher(words).find() && !pattern.matcher(username).find()) {
                return (Meaning) known[1];
            }
        }
        return Meaning.OTHER;
    }

    /** The index of the brace that closes the object at the beginning, or -1. Braces in strings do not count. */
    private static int objectEnd(String text) {
        int depth = 0;
        boolean inString = false;
        for (int at = 0; at < text.length(); at++) {
            char next = text.charAt(at);
            if (inString) {
                if (next == '\\') {
                    at++;
                } else if (next == '"') {
                    inString = false;
                }
            } else if (next == '"') {
                inString = true;
            } else if (next == '{') {
                depth++;
            } else if (next == '}' && --depth == 0) {
                return at;
            }
        }
        return -1;
    }
}
