package org.bukkit.plugin.java;

import java.io.File;
import java.util.logging.Logger;

/** Bukkit's class as far as a test needs it: a data folder and a logger. */
public abstract class JavaPlugin {
    private final File folder = new File(System.getProperty("plugin.folder"));

    public void onEnable() {
    }

    public void onDisable() {
    }

    public final File getDataFolder() {
        return folder;
    }

    public Logger getLogger() {
        return Logger.getLogger("TallyportRelay");
    }
}
