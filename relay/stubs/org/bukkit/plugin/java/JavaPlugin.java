package org.bukkit.plugin.java;

import java.io.File;
import java.util.logging.Logger;

/** The parts of Bukkit's class that the relay uses. The server has the real one; this one is not in the jar. */
public abstract class JavaPlugin {
    public void onEnable() {
    }

    public void onDisable() {
    }

    public final File getDataFolder() {
        throw new UnsupportedOperationException("a stub");
    }

    public Logger getLogger() {
        throw new UnsupportedOperationException("a stub");
    }
}
