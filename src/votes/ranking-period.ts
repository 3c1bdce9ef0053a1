/** The period of `votes_count`: today and the 29 UTC days before. */
export const RANKING_DAYS = 30;

/** Of the ranks and the lists of the public pages. */
export const RANKS_EVERY_MINUTES = 10;
