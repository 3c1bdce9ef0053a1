import type { Collection, Filter } from 'mongodb';
import { statusAt } from '../history/current-status.ts';
import { twoDecimals } from '../platform/two-decimals.ts';
import type { ReviewList } from '../reviews/review.ts';
import { pauseAt } from '../servers/listing-pause.ts';
import type { Server } from '../servers/server.ts';

/** `rank` is the ranking itself. */
export const SORTS = ['rank', 'players', 'newest', 'rating', 'uptime'] as const;
export type Sort = (typeof SORTS)[number];

export const OTHER_SORTS = SORTS.filter((sort) => sort !== 'rank');
export type OtherSort = Exclude<Sort, 'rank'>;

/** Servers with fewer reviews follow those with enough, so that one review does not make a server the best rated. */
export const ENOUGH_REVIEWS = 3;

/** `average` has at most two decimals. */
export type Rating = { average: number; reviews: number };

function ratingOf({ count, ratingSum }: Pick<ReviewList, 'count' | 'ratingSum'>): Rating | null {
  return count > 0 ? { average: twoDecimals(ratingSum / count), reviews: count } : null;
}

/** By the id of the server, in hex. */
export async function readRatings(reviewLists: Collection<ReviewList>, filter: Filter<ReviewList>) {
  const found = reviewLists.find(filter, { projection: { count: 1, ratingSum: 1 }, batchSize: 1_000 });
  return new Map(await found.map((list) => [list._id.toHexString(), ratingOf(list)] as const).toArray());
}

export type Sorted = Pick<Server, 'listedAt' | 'probe' | 'lastReport' | 'listingPause'> & {
  current: Pick<Server['current'], 'onlinePlayers'>;
  daily: Pick<Server['daily'], 'probedUptime'>;
};

/** Less than every figure. */
const PAUSED = -2;

/** The projection for `sortFigure`, without the fields of the status (see `FILTERED`). */
export const SORTED = { listedAt: 1, 'current.onlinePlayers': 1, 'daily.probedUptime': 1 } as const;

/** The highest comes first, and paused servers come last. An unknown figure, and the players of a server that is not online, is -1 and comes last. */
export function sortFigure(sort: OtherSort, server: Sorted, rating: Rating | null, now: Date): number {
  if (pauseAt(server, now)) return PAUSED;
  switch (sort) {
    case 'players':
      return statusAt(server, now) === 'online' ? server.current.onlinePlayers : -1;
    case 'newest':
      return server.listedAt.getTime();
    case 'uptime':
      return twoDecimals(server.daily.probedUptime ?? -1);
    case 'rating':
      return rating ? ratingFigure(rating) : -1;
  }
}

/** Ratings with enough reviews come first, then the higher average; if two are equal, the one with more reviews. */
function ratingFigure({ average, reviews }: Rating): number {
  return (reviews >= ENOUGH_REVIEWS ? 10 : 0) + average + Math.min(reviews, 9_999) / 10_000_000;
}
