package tallyport.relay;

/** Text of others for one line of a log, a journal or a reason. */
final class Printable {
    private Printable() {
    }

    /**
     * The text without control characters and unpaired surrogates, which become a space or "?".
     *
     * @param longest the most code points that are kept
     */
    static String line(String text, int longest) {
        StringBuilder line = new StringBuilder();
        int count = 0;
        for (int at = 0; at < text.length() && count < longest; count++) {
            int point = text.codePointAt(at);
            at += Character.charCount(point);
            if (Character.isISOControl(point) || point == 0x2028 || point == 0x2029) {
                line.append(' ');
            } else {
                line.appendCodePoint(point >= 0xD800 && point <= 0xDFFF ? '?' : point);
            }
        }
        return line.toString();
    }
}
