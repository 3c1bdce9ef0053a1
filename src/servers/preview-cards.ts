import type { ObjectId, WithId } from 'mongodb';
import { upsertLoader } from '../platform/batching/write-loaders.ts';
import { after, DAY, HOUR, MINUTE } from '../platform/clock.ts';
import { isDuplicateKey, REPLICATED } from '../platform/mongo.ts';
import { PictureError, PictureProcessError } from '../platform/pictures/picture-error.ts';
import type { ServersDeps } from './deps.ts';
import type { PreviewCard } from './preview-card.ts';
import type { Server } from './server.ts';

/** If the key changed (see `PreviewCard`): a request marks the card as due only if its drawing is this old. */
const REDRAWN_AFTER_MS = MINUTE;
/** A card of this age is drawn again for its figures. Chats cache previews for longer, so a shorter time has no use. */
const FIGURES_MS = HOUR;

/**
 * A card has about 40 KB, or 300 KB if the banner is a photo. Above this number, the cards whose last request is the
 * longest ago are deleted.
 */
export const MOST_CARDS = 10_000;
const MOST_A_ROUND = 1_000;

export type CardState = Pick<PreviewCard, 'dueAt' | 'failedUntil' | 'drawnKey' | 'drawnAt' | 'askedAt'>;

/** The card of a server with its bytes; null when it was never requested. */
export function readCard({ previewCards }: ServersDeps, serverId: ObjectId): Promise<PreviewCard | null> {
  return previewCards.findOne({ _id: serverId }, { promoteBuffers: true });
}

/** The state of a server's card, without the bytes; null if the card was never requested. */
export function readCardState({ previewCards }: ServersDeps, serverId: ObjectId): Promise<CardState | null> {
  return previewCards.findOne({ _id: serverId }, { projection: { png: 0 } });
}

/**
 * Whether a request for a card makes a new drawing necessary: there is no drawing, or it is an hour old, or it is a
 * minute old and has another key. False if the card is already due, or for an hour after three failures in a row.
 *
 * @param key - the key (see `PreviewCard`) that the card should have now
 */
export function isOutdated(card: CardState | null, key: string, now: Date): boolean {
  if (!card) return true;
  const { dueAt, failedUntil, drawnAt, drawnKey } = card;
  if (dueAt || (failedUntil && failedUntil > now)) return false;
  if (!drawnAt) return true;
  return drawnAt <= after(now, -(drawnKey === key ? FIGURES_MS : REDRAWN_AFTER_MS));
}

/** Writes the marks of many cards at once: if a chat shows many links, it requests many cards. */
const markCards = upsertLoader<PreviewCard>(REPLICATED, 100);

/**
 * Marks a card as due, unless it is due already. A worker draws the card even if its job is lost, because the mark is
 * in MongoDB. If a worker is drawing the card already, a second mark would discard its drawing.
 */
export async function markCardDue(
  { previewCards, clock, batcher }: ServersDeps,
  serverId: ObjectId,
  key: string,
): Promise<void> {
  const now = clock.now();
  const mark = {
    q: { _id: serverId, dueAt: { $exists: false } },
    u: { $set: { key, dueAt: now, askedAt: now, attempts: 0 } },
  };
  await batcher.load(markCards, previewCards, mark).catch((error: unknown) => {
    // If the card exists and the filter does not match it: it is due already.
    if (!isDuplicateKey(error)) throw error;
  });
}

/** Records, once a day, that a card is still requested. */
export async function noteAsked(
  { previewCards, clock }: ServersDeps,
  serverId: ObjectId,
  { askedAt }: CardState,
): Promise<void> {
  const now = clock.now();
  if (askedAt <= after(now, -DAY))
    await previewCards.updateOne({ _id: serverId }, { $set: { askedAt: now } });
}

/** The servers whose cards are due, including those whose jobs were lost. */
export function dueCards({ previewCards, clock }: ServersDeps): Promise<ObjectId[]> {
  return previewCards
    .find({ dueAt: { $lte: clock.now() } }, { projection: { _id: 1 } })
    .sort({ dueAt: 1 })
    .limit(MOST_A_ROUND)
    .map(({ _id }) => _id)
    .toArray();
}

/** Deletes the cards above the maximum `most`, up to 1,000 per call. Returns their number. */
export async function trimCards({ previewCards }: ServersDeps, most = MOST_CARDS) {
  const over = Math.min(MOST_A_ROUND, (await previewCards.estimatedDocumentCount()) - most);
  if (over <= 0) return 0;
  const oldest = await previewCards
    .find({}, { projection: { _id: 1 } })
    .sort({ askedAt: 1 })
    .limit(over)
    .map(({ _id }) => _id)
    .toArray();
  return (await previewCards.deleteMany({ _id: { $in: oldest } })).deletedCount;
}

/** After this many failures in a row, no worker draws the card for an hour. */
const MOST_ATTEMPTS = 3;
const RETRY_MS = MINUTE;
const FAILED_MS = HOUR;

/** The lease of a worker. It leaves time to wait for the picture process, which takes at most 30 s for each picture. */
const LEASE_MS = 2 * MINUTE;

/** In bytes. */
const LARGEST_CARD = 512 * 1_024;

/** The result of a card's job. `not-due`: there is nothing to draw now. `unwanted`: the server is hidden or removed. */
export type DrawingResult = 'drawn' | 'failed' | 'unwanted' | 'not-due';

/**
 * Draws a card that is due and stores it. After a failure, the next attempt is a minute later; after three failures in
 * a row, at least an hour later.
 *
 * @throws {PictureProcessError} when this process stops; the card is due again
 */
export async function drawCard(
  deps: ServersDeps,
  serverId: ObjectId,
  draw: (server: WithId<Server>) => Promise<Buffer>,
): Promise<DrawingResult> {
  const { previewCards, clock, log } = deps;
  const card = await takeCard(deps, serverId);
  if (!card) return 'not-due';
  const { _id, attempts, key } = card;
  const server = await deps.servers.findOne({ _id: serverId, removedAt: null, hiddenAt: null });
  if (!server) {
    await previewCards.deleteOne({ _id });
    return 'unwanted';
  }
  const taken = { _id, attempts };
  try {
    // Attempts are counted, not failures: if the picture process and the worker died together, no failure was recorded.
    if (attempts > MOST_ATTEMPTS) throw new PictureProcessError('ended', 'it failed too often');
    const png = await draw(server);
    if (png.length > LARGEST_CARD) throw new PictureError('too-large');
    await previewCards.updateOne(taken, {
      $set: { png, drawnAt: clock.now(), drawnKey: key, attempts: 0 },
      $unset: { dueAt: '', leaseUntil: '', failedUntil: '' },
    });
    return 'drawn';
  } catch (error) {
    const isStopped = error instanceof PictureProcessError && error.code === 'stopped';
    if (!(error instanceof PictureProcessError || error instanceof PictureError)) throw error;
    const now = clock.now();
    if (isStopped || attempts < MOST_ATTEMPTS) {
      const again = isStopped
        ? { dueAt: now, attempts: attempts - 1 }
        : { dueAt: after(now, RETRY_MS), attempts };
      await previewCards.updateOne(taken, { $set: again, $unset: { leaseUntil: '' } });
      if (isStopped) throw error;
    } else {
      const failed = { failedUntil: after(now, FAILED_MS), attempts: 0 };
      await previewCards.updateOne(taken, { $set: failed, $unset: { dueAt: '', leaseUntil: '' } });
    }
    log.warn({ event: 'card.failed', serverId: serverId.toHexString(), attempts, reason: error.code });
    return 'failed';
  }
}

/** Takes a due card that no other worker is drawing, and counts the attempt; null when there is none. */
function takeCard({ previewCards, clock }: ServersDeps, serverId: ObjectId): Promise<PreviewCard | null> {
  return previewCards.findOneAndUpdate(
    {
      _id: serverId,
      dueAt: { $lte: clock.now() },
      $expr: { $lte: [{ $ifNull: ['$leaseUntil', new Date(0)] }, '$$NOW'] },
    },
    [{ $set: { attempts: { $add: ['$attempts', 1] }, leaseUntil: { $add: ['$$NOW', LEASE_MS] } } }],
    { returnDocument: 'after', projection: { png: 0 } },
  );
}
