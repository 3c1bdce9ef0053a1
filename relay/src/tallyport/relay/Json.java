package tallyport.relay;

import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Reads and writes JSON (RFC 8259). Objects are maps, arrays are lists, numbers are {@link BigDecimal}. The reader
 * takes nothing but JSON, and no more than 32 levels.
 */
final class Json {
    private static final int DEEPEST = 32;
    private static final int LONGEST_NUMBER = 40;

    private final String text;
    private int at;

    private Json(String text) {
        this.text = text;
    }

    /** @throws IllegalArgumentException if the text is not exactly one JSON value */
    static Object parse(String text) {
        Json json = new Json(text);
        Object value = json.value(0);
        json.skipSpace();
        if (json.at != text.length()) {
            throw json.wrong();
        }
        return value;
    }

    private Object value(int depth) {
        skipSpace();
        if (depth > DEEPEST || at >= text.length()) {
            throw wrong();
        }
        char first = text.charAt(at);
        switch (first) {
            case '{':
                return object(depth);
            case '[':
                return array(depth);
            case '"':
                return string();
            case 't':
                return word("true", Boolean.TRUE);
            case 'f':
                return word("false", Boolean.FALSE);
            case 'n':
                return word("null", null);
            default:
                return number();
        }
    }

    private Map<String, Object> object(int depth) {
        Map<String, Object> object = new LinkedHashMap<>();
        at++;
        if (taken('}')) {
            return object;
        }
        do {
            skipSpace();
            if (at >= text.length() || text.charAt(at) != '"') {
                throw wrong();
            }
            String name = string();
            expect(':');
            object.put(name, value(depth + 1));
        } while (taken(','));
        expect('}');
        return object;
    }

    private List<Object> array(int depth) {
        List<Object> array = new ArrayList<>();
        at++;
        if (taken(']')) {
            return array;
        }
        do {
            array.add(value(depth + 1));
        } while (taken(','));
        expect(']');
        return array;
    }

    private String string() {
        StringBuilder string = new StringBuilder();
        for (at++; at < text.length(); at++) {
            char next = text.charAt(at);
            if (next == '"') {
                at++;
                return string.toString();
            }
            if (next < ' ') {
                throw wrong();
            }
            string.append(next == '\\' ? escaped() : next);
        }
        throw wrong();
    }

    private char escaped() {
        at++;
        if (at >= text.length()) {
            throw wrong();
        }
        char kind = text.charAt(at);
        int simple = "\"\\/bfnrt".indexOf(kind);
        if (simple >= 0) {
            return "\"\\/\b\f\n\r\t".charAt(simple);
        }
        if (kind != 'u' || at + 4 >= text.length()) {
            throw wrong();
        }
        int code = 0;
        for (int digit = 1; digit <= 4; digit++) {
            int value = Character.digit(text.charAt(at + digit), 16);
            if (value < 0 || text.charAt(at + digit) > 'f') {
                throw wrong();
            }
            code = code * 16 + value;
        }
        at += 4;
        return (char) code;
    }

    private BigDecimal number() {
        int from = at;
        while (at < text.length() && "+-.eE0123456789".indexOf(text.charAt(at)) >= 0) {
            at++;
        }
        String number = text.substring(from, at);
        // An exponent of nine digits would cost gigabytes when it is written out.
        if (number.length() > LONGEST_NUMBER
                || !number.matches("-?(0|[1-9][0-9]*)(\\.[0-9]+)?([eE][+-]?[0-9]{1,3})?")) {
            throw wrong();
        }
        return new BigDecimal(number);
    }

    private Object word(String word, Object value) {
        if (!text.startsWith(word, at)) {
            throw wrong();
        }
        at += word.length();
        return value;
    }

    private boolean taken(char expected) {
        skipSpace();
        if (at >= text.length() || text.charAt(at) != expected) {
            return false;
        }
        at++;
        return true;
    }

    private void expect(char expected) {
        if (!taken(expected)) {
            throw wrong();
        }
    }

    private void skipSpace() {
        while (at < text.length() && " \t\r\n".indexOf(text.charAt(at)) >= 0) {
            at++;
        }
    }

    private IllegalArgumentException wrong() {
        return new IllegalArgumentException("not JSON at character " + at);
    }

    /** Writes maps, lists, texts, numbers, booleans and null. */
    static String write(Object value) {
        StringBuilder json = new StringBuilder();
        write(value, json);
        return json.toString();
    }

    private static void write(Object value, StringBuilder json) {
        if (value instanceof Map) {
            char before = '{';
            for (Map.Entry<?, ?> field : ((Map<?, ?>) value).entrySet()) {
                json.append(before);
                quote(String.valueOf(field.getKey()), json);
                json.append(':');
                write(field.getValue(), json);
                before = ',';
            }
            json.append(before == '{' ? "{}" : "}");
        } else if (value instanceof List) {
            char before = '[';
            for (Object element : (List<?>) value) {
                json.append(before);
                write(element, json);
                before = ',';
            }
            json.append(before == '[' ? "[]" : "]");
        } else if (value instanceof String) {
            quote((String) value, json);
        } else {
            json.append(value);
        }
    }

    private static void quote(String text, StringBuilder json) {
        json.append('"');
        for (int at = 0; at < text.length(); at++) {
            char next = text.charAt(at);
            if (next == '"' || next == '\\') {
                json.append('\\').append(next);
            } else if (next < ' ') {
                json.append(String.format("\\u%04x", (int) next));
            } else {
                json.append(next);
            }
        }
        json.append('"');
    }
}
