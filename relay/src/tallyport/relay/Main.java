package tallyport.relay;

import java.io.File;
import java.io.IOException;
import java.io.PrintStream;
import java.io.UnsupportedEncodingException;
import java.time.Instant;
import java.time.temporal.ChronoUnit;

/** The relay as a program. */
public final class Main {
    private static final String HELP = String.join("\n",
            "Fetches the votes of a game server from its Tallyport listing and hands them to the Votifier plugin.",
            "",
            "  java -jar tallyport-relay.jar [--config FILE] [--check]",
            "",
            "Run it in the folder of the game server, or put it into plugins/ of a Bukkit, Spigot or Paper server.",
            "",
            "  --config FILE  the configuration; " + Settings.FILE_NAME + " by default. If it is not there, it is written,",
            "                 and its comments say what to fill in. The journal is written beside it.",
            "  --check        says whether votes can arrive, or what is wrong; exits with 0 only if they can",
            "  --version      prints the version",
            "  --help         prints this");

    private Main() {
    }

    public static void main(String[] args) throws Exception {
        PrintStream out = utf8();
        String file = Settings.FILE_NAME;
        boolean check = false;
        for (int at = 0; at < args.length; at++) {
            if (args[at].equals("--help")) {
                out.println(HELP);
                return;
            }
            if (args[at].equals("--version")) {
                out.println(Version.OWN);
                return;
            }
            if (args[at].equals("--config") && at + 1 < args.length) {
                file = args[++at];
            } else if (args[at].equals("--check")) {
                check = true;
            } else {
                out.println("Unknown argument: " + args[at] + "\n\n" + HELP);
                System.exit(2);
            }
        }
        Place place = new Place(new File(file), "standalone", new File("").getAbsoluteFile());
        Log log = logTo(out, !check);
        System.exit(check ? new Check(place, log).run() ? 0 : 1 : start(place, log));
    }

    private static int start(Place place, Log log) throws InterruptedException {
        try {
            if (Settings.writeTemplate(place.config)) {
                log.warn("Wrote " + place.config.getPath() + ": fill in server= and key=, then start the relay again.");
                return 1;
            }
            Settings.read(place.config);
        } catch (IOException | Settings.Invalid error) {
            log.warn(error.getMessage());
            return 1;
        }
        Relay relay = new Relay(place, log);
        Thread thread = new Thread(relay, "tallyport-relay");
        thread.start();
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            boolean ran = thread.isAlive();
            relay.stop();
            try {
                thread.join();
            } catch (InterruptedException error) {
                // The process ends in any case.
            }
            // A stop that was asked for is a good end; Java would exit with 143.
            Runtime.getRuntime().halt(ran ? 0 : 1);
        }));
        thread.join();
        // Nobody stopped it: it ended with an error.
        return 1;
    }

    private static Log logTo(PrintStream out, boolean withTime) {
        return new Log() {
            @Override
            public void info(String text) {
                print("", text);
            }

            @Override
            public void warn(String text) {
                print("! ", text);
            }

            private void print(String mark, String text) {
                String time = withTime ? Instant.now().truncatedTo(ChronoUnit.SECONDS) + " " : "";
                out.println(time + mark + text);
            }
        };
    }

    private static PrintStream utf8() throws UnsupportedEncodingException {
        return new PrintStream(System.out, true, "UTF-8");
    }
}
