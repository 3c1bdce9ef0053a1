/** A day on which a server hid its players counts as one with this many. */
export const HIDDEN_PLAYERS = 10;

/** The usual number of players is the median of the most players of each of this many days. */
export const USUAL_DAYS = 7;
const MIDDLE = Math.floor(USUAL_DAYS / 2);
/** After so many days, a new number of players is the usual one. */
export const DAYS_UNTIL_USUAL = MIDDLE + 1;

const HIDDEN_SECONDS = { $ifNull: ['$probes.hiddenSeconds', 0] };

/**
 * On a document of `daily_stats`: the most players that our checks saw, 0 if the server was only offline; null if no
 * check saw anything.
 */
export const PLAYERS_OF_DAY = {
  $cond: [
    { $gt: ['$probes.onlineSeconds', HIDDEN_SECONDS] },
    '$probes.peakPlayers',
    {
      $cond: [
        { $gt: [HIDDEN_SECONDS, 0] },
        { $literal: HIDDEN_PLAYERS },
        { $cond: [{ $gt: ['$probes.offlineSeconds', 0] }, { $literal: 0 }, null] },
      ],
    },
  ],
};

/** The median of at most `USUAL_DAYS` days. Missing days count as 0. */
export function usualPlayers(known: number[]): number {
  return known.toSorted((a, b) => b - a)[MIDDLE] ?? 0;
}

/** `usualPlayers` as an expression. */
export function usualPlayersOf(known: unknown) {
  return { $ifNull: [{ $arrayElemAt: [{ $sortArray: { input: known, sortBy: -1 } }, MIDDLE] }, 0] };
}
