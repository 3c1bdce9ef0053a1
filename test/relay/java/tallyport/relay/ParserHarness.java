package tallyport.relay;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Base64;

/** Reads a text of base64 a line with one of the relay's parsers, and prints what it found, or "refused". */
public final class ParserHarness {
    private ParserHarness() {
    }

    public static void main(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        PrintStream out = new PrintStream(System.out, false, "UTF-8");
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String text = new String(Base64.getDecoder().decode(line), StandardCharsets.UTF_8);
            try {
                out.println(Json.write(args[0].equals("json") ? Json.parse(text) : SimpleYaml.parse(text).sections));
            } catch (IllegalArgumentException error) {
                out.println("refused");
            }
        }
        out.flush();
    }
}
