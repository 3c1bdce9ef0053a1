package tallyport.relay;

import java.util.Collections;

/** Looks at everything that the relay needs, and sends no vote. */
final class Check {
    /** No vote has this id: the listing refuses it, which shows that it knows the server and takes the key. */
    private static final String NO_VOTE = "00000000-0000-7000-8000-000000000000";

    private final Place place;
    private final Log log;

    Check(Place place, Log log) {
        this.place = place;
        this.log = log;
    }

    /** @return whether votes can arrive */
    boolean run() {
        Settings settings;
        try {
            settings = Settings.read(place.config);
        } catch (Settings.Invalid error) {
            log.warn(error.getMessage());
            return false;
        }
        // All are looked at, so that one run names everything.
        boolean siteIsRight = site(settings);
        boolean pluginIsRight = plugin(settings);
        return journal() && siteIsRight && pluginIsRight;
    }

    private boolean journal() {
        String problem = Journal.problemIn(place.folder());
        if (problem != null) {
            log.warn(problem);
        }
        return problem == null;
    }

    private boolean site(Settings settings) {
        try {
            Told nothing = new Told(NO_VOTE, "check", Outcome.RETRY, "", null);
            Site.Settled settled = new Site(settings, place.edition).done(Collections.singletonList(nothing));
            if (!settled.ends.containsKey(NO_VOTE)) {
                throw SiteProblem.unreadable();
            }
            log.info("The listing is reached, and the key is accepted: " + settings.server);
            if (!settled.fetching) {
                throw SiteProblem.notFetching();
            }
            if (settled.paused) {
                log.warn("the delivery of votes is paused at the listing: resume it on the dashboard");
            }
            return !settled.paused;
        } catch (SiteProblem problem) {
            log.warn(problem.getMessage());
            return false;
        }
    }

    private boolean plugin(Settings settings) {
        HandOver handOver = new HandOver(place.votifierFolders(settings), () -> System.nanoTime() + 60_000_000_000L);
        try {
            VotifierInstall install = handOver.install();
            log.info("Votifier was found: " + install.folder.getPath());
            try (VotifierConnection connection = VotifierConnection.open(install, () -> System.nanoTime() + 60_000_000_000L)) {
                boolean v2 = connection.challenge != null && install.hasToken();
                if (!v2 && install.publicKey == null) {
                    log.warn("Votifier answers at " + install.address() + ", but there is no "
                            + (connection.challenge != null ? "token in its config.yml, and " : "way to send: ")
                            + install.keyProblem);
                    return false;
                }
                log.info("Votifier answers at " + install.address() + "; votes are handed over with "
                        + (v2 ? "v2 and its token" : "v1 and its public key"));
                return true;
            }
        } catch (VotifierInstall.NotUsable | VotifierConnection.NoGreeting error) {
            log.warn(error.getMessage());
            return false;
        }
    }
}
