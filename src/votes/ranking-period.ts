/** The period of `votes_count`: today and the 29 UTC days before. */
export const RANKING_DAYS = 30;

/** How often the ranks and the lists of the public pages are computed. */
export const RANKS_EVERY_MINUTES = 10;
