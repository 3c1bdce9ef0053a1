package tallyport.relay;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Reads the part of YAML that vote plugins write into their config.yml: "name: value" at the left margin, and one
 * level of such pairs below a name. Everything else is skipped.
 */
final class SimpleYaml {
    /** The values at the left margin. */
    final Map<String, String> values = new LinkedHashMap<>();
    /** The pairs below a name, by that name. */
    final Map<String, Map<String, String>> sections = new LinkedHashMap<>();

    private SimpleYaml() {
    }

    static SimpleYaml parse(String text) {
        SimpleYaml yaml = new SimpleYaml();
        Map<String, String> section = new LinkedHashMap<>();
        int sectionIndent = -1;
        for (String line : text.split("\r?\n")) {
            String content = line.trim();
            if (content.isEmpty() || content.startsWith("#") || content.equals("-")
                    || content.startsWith("- ")) {
                continue;
            }
            int indent = line.indexOf(content.charAt(0));
            String[] pair = pair(content);
            if (pair == null) {
                continue;
            }
            if (indent > 0) {
                // Deeper levels belong to something that the relay does not read.
                sectionIndent = sectionIndent < 0 ? indent : sectionIndent;
                if (indent == sectionIndent) {
                    section.put(pair[0], pair[1]);
                }
                continue;
            }
            section = new LinkedHashMap<>();
            sectionIndent = -1;
            yaml.sections.put(pair[0], section);
            yaml.values.put(pair[0], pair[1]);
        }
        return yaml;
    }

    /** @return name and value, or null if the line is no pair */
    private static String[] pair(String content) {
        char quote = content.charAt(0);
        boolean quoted = quote == '"' || quote == '\'';
        int nameEnd = quoted ? quotedEnd(content) : 0;
        int colon = content.indexOf(':', nameEnd);
        // A colon inside a name, such as in "my:site: token", has no space after it.
        while (!quoted && colon >= 0 && colon + 1 < content.length() && content.charAt(colon + 1) != ' ') {
            colon = content.indexOf(':', colon + 1);
        }
        if (colon < 0 || (quoted && nameEnd == 0)) {
            return null;
        }
        return new String[] {scalar(content.substring(0, colon)), scalar(content.substring(colon + 1))};
    }

    /** The index after the quote that closes the text at the beginning, or 0. */
    private static int quotedEnd(String content) {
        char quote = content.charAt(0);
        for (int at = 1; at < content.length(); at++) {
            char next = content.charAt(at);
            boolean doubled = quote == '\'' && at + 1 < content.length() && content.charAt(at + 1) == quote;
            if (next == '\\' && quote == '"' || next == quote && doubled) {
                at++;
            } else if (next == quote) {
                return at + 1;
            }
        }
        return 0;
    }

    private static String scalar(String raw) {
        String text = raw.trim();
        char quote = text.isEmpty() ? ' ' : text.charAt(0);
        if (quote == '\'' || quote == '"') {
            int end = quotedEnd(text);
            String inner = end > 0 ? text.substring(1, end - 1) : text.substring(1);
            return quote == '\'' ? inner.replace("''", "'") : inner.replace("\\\"", "\"").replace("\\\\", "\\");
        }
        int comment = text.indexOf(" #");
        return (comment >= 0 ? text.substring(0, comment) : text.startsWith("#") ? "" : text).trim();
    }
}
