package tallyport.relay;

import java.io.File;
import java.io.IOException;
import java.util.logging.Logger;
import org.bukkit.plugin.java.JavaPlugin;

/** The relay as a plugin of Bukkit, Spigot or Paper. Nothing but the stop waits in the server's thread. */
public final class RelayPlugin extends JavaPlugin {
    private static final long LONGEST_STOP_MS = 15_000;

    private Relay relay;
    private Thread thread;

    @Override
    public void onEnable() {
        Logger logger = getLogger();
        File config = new File(getDataFolder(), Settings.FILE_NAME);
        try {
            if (Settings.writeTemplate(config)) {
                logger.warning("Wrote " + config.getPath() + ": fill in server= and key=. The relay reads it by itself.");
            }
        } catch (IOException error) {
            logger.severe("Cannot write " + config.getPath() + ": " + error.getMessage());
            return;
        }
        relay = new Relay(new Place(config, "Bukkit", getDataFolder().getAbsoluteFile().getParentFile()), new Log() {
            @Override
            public void info(String text) {
                logger.info(text);
            }

            @Override
            public void warn(String text) {
                logger.warning(text);
            }
        });
        thread = new Thread(relay, "TallyportRelay");
        thread.setDaemon(true);
        thread.start();
    }

    /** Waits until the vote under way has ended and the listing was told, at most 15 s. */
    @Override
    public void onDisable() {
        if (thread == null) {
            return;
        }
        relay.stop();
        try {
            thread.join(LONGEST_STOP_MS);
        } catch (InterruptedException error) {
            Thread.currentThread().interrupt();
        }
        thread = null;
    }
}
