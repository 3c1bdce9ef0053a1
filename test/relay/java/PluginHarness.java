import java.io.BufferedReader;
import java.io.InputStreamReader;
import org.bukkit.plugin.java.JavaPlugin;

/** A server that enables and disables the plugin as its input says, and prints how long that held its thread. */
public final class PluginHarness {
    private PluginHarness() {
    }

    public static void main(String[] args) throws Exception {
        System.setProperty("java.util.logging.SimpleFormatter.format", "%4$s %5$s%n");
        JavaPlugin plugin = null;
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String order = in.readLine(); order != null; order = in.readLine()) {
            long began = System.nanoTime();
            if (order.equals("enable")) {
                plugin = (JavaPlugin) Class.forName("tallyport.relay.RelayPlugin").getConstructor().newInstance();
                plugin.onEnable();
            } else {
                plugin.onDisable();
            }
            System.err.println(order + "d in " + (System.nanoTime() - began) / 1_000_000 + " ms, relay threads: "
                    + Thread.getAllStackTraces().keySet().stream()
                            .filter(thread -> thread.getName().equals("TallyportRelay")).count());
        }
    }
}
