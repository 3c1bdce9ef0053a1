package tallyport.relay;

import java.io.File;
import java.util.ArrayList;
import java.util.List;

/** Where the relay runs: alone or in a game server. */
final class Place {
    final File config;
    /** "standalone" or "Bukkit", for the listing. */
    final String edition;
    /** The folder of the game server, or its plugins folder. */
    private final File game;

    Place(File config, String edition, File game) {
        this.config = config;
        this.edition = edition;
        this.game = game;
    }

    /** The folder of the configuration, the journal and its lock. */
    File folder() {
        return config.getAbsoluteFile().getParentFile();
    }

    /** Where the vote plugin is looked for, in this order. */
    List<File> votifierFolders(Settings settings) {
        if (settings.votifier == null) {
            return VotifierInstall.foldersIn(game);
        }
        File named = new File(settings.votifier);
        List<File> folders = new ArrayList<>();
        folders.add(named);
        folders.addAll(VotifierInstall.foldersIn(named));
        return folders;
    }
}
