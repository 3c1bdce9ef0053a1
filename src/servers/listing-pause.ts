import { Schema } from 'mongoose';
import { after, DAY } from '../platform/clock.ts';
import type { Nested } from '../platform/document.ts';

/** In code points. */
export const LONGEST_PAUSE_TEXT = 200;

export const MOST_PAUSES = 2;
/** At most `MOST_PAUSES` begin within this time. */
export const PAUSES_MS = 30 * DAY;
export const PAUSE_DAYS = PAUSES_MS / DAY;

/** The date of return is at most so far away. */
export const LONGEST_PAUSE_MS = 366 * DAY;

/** Longer than samples are stored and than a report counts: the figures of every computed day leave pauses out. */
export const PAUSE_KEPT_MS = 45 * DAY;

const listingPauseDefinition = {
  at: { type: Date, required: true },
  /** The date of return. From this moment on the listing is not paused, also before a worker has ended the pause. */
  until: { type: Date },
  /** The owner's sentence for players. */
  text: { type: String, maxlength: 2 * LONGEST_PAUSE_TEXT },
} as const;

const pausedTimeDefinition = {
  from: { type: Date, required: true },
  until: { type: Date, required: true },
} as const;

const nested = { _id: false } as const;

/** For the document of a server; both are absent in most. */
export const listingPauseFields = {
  listingPause: { type: new Schema(listingPauseDefinition, nested) },
  /** Pauses that ended, oldest first, for `PAUSE_KEPT_MS`. */
  earlierPauses: { type: [new Schema(pausedTimeDefinition, nested)], default: undefined },
} as const;

export type ListingPause = Nested<typeof listingPauseDefinition>;
export type PausedTime = Nested<typeof pausedTimeDefinition>;

/** Loose, because a projection may have left the fields out only if there are none. */
export type Pausable = {
  listingPause?: ListingPause | null | undefined;
  earlierPauses?: PausedTime[] | null | undefined;
};

/** The projection for the functions below. */
export const PAUSE_FIELDS = { listingPause: 1, earlierPauses: 1 } as const;

/** Null if the listing is not paused at that moment. */
export function pauseAt({ listingPause }: Pick<Pausable, 'listingPause'>, now: Date): ListingPause | null {
  if (!listingPause) return null;
  return !listingPause.until || now < listingPause.until ? listingPause : null;
}

/** All times that are known, oldest first. A pause without an end lasts until `END_OF_TIME`. */
export function pausedTimes({ listingPause, earlierPauses }: Pausable): PausedTime[] {
  const present = listingPause ? [{ from: listingPause.at, until: listingPause.until ?? END_OF_TIME }] : [];
  return [...(earlierPauses ?? []), ...present];
}

const END_OF_TIME = new Date(8.64e15);

/** When the next probe of a paused server is due, so that it is not at the head of the index of due ones. */
export const NEVER_PROBED = new Date('9999-12-31T00:00:00.000Z');

/** What was seen before is not known any more. Null if no pause has ended. */
export function lastPauseEnd(server: Pausable, now: Date): Date | null {
  return (
    pausedTimes(server)
      .filter(({ until }) => until <= now)
      .at(-1)?.until ?? null
  );
}

/** When the next pause may begin: now, or when the oldest of the newest `MOST_PAUSES` is long enough ago. */
export function nextPauseAt(server: Pausable, now: Date): Date {
  const newest = pausedTimes(server).at(-MOST_PAUSES);
  const counts = pausedTimes(server).length >= MOST_PAUSES && newest;
  const at = counts ? after(newest.from, PAUSES_MS) : now;
  return at > now ? at : now;
}

/** A filter. It also leaves out a server whose date of return has come, until a worker has ended its pause. */
export const NOT_PAUSED = { listingPause: { $exists: false } } as const;

/** An expression: whether the listing was paused at that moment. */
export function wasPaused(at: Date): object {
  return {
    $or: [
      {
        $and: [
          { $gt: ['$listingPause', null] },
          { $lte: ['$listingPause.at', at] },
          { $gt: [{ $ifNull: ['$listingPause.until', END_OF_TIME] }, at] },
        ],
      },
      {
        $anyElementTrue: {
          $map: {
            input: { $ifNull: ['$earlierPauses', []] },
            in: { $and: [{ $lte: ['$$this.from', at] }, { $gt: ['$$this.until', at] }] },
          },
        },
      },
    ],
  };
}

/** How much of a span of time was paused; all in milliseconds. */
export function pausedMs(pauses: PausedTime[], from: number, to: number): number {
  return pauses.reduce(
    (sum, one) => sum + Math.max(0, Math.min(one.until.getTime(), to) - Math.max(one.from.getTime(), from)),
    0,
  );
}
