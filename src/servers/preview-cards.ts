import type { ObjectId, WithId } from 'mongodb';
import { upsertLoader } from '../platform/batching/write-loaders.ts';
import { after, DAY, HOUR, MINUTE } from '../platform/clock.ts';
import { isDuplicateKey, REPLICATED } from '../platform/mongo.ts';
import { PictureError, PictureProcessError } from '../platform/pictures/picture-error.ts';
import type { ServersDeps } from './deps.ts';
import type { PreviewCard } from './preview-card.ts';
import type { Server } from './server.ts';

/** If the key changed: a request marks the card as due only if its drawing is this old. */
const REDRAWN_AFTER_MS = MINUTE;
/** Then a card is drawn again for its figures. Chats cache previews for longer. */
const FIGURES_MS = HOUR;

/**
 * About 40 KB each, or 300 KB with a photo as banner. Above this, the cards whose last request is the longest ago are
 * deleted.
 */
export const MOST_CARDS = 10_000;
const MOST_A_ROUND = 1_000;

export type CardState = Pick<PreviewCard, 'dueAt' | 'failedUntil' | 'drawnKey' | 'drawnAt' | 'askedAt'>;

export function readCard({ previewCards }: ServersDeps, serverId: ObjectId): Promise<PreviewCard | null> {
  return previewCards.findOne({ _id: serverId }, { promoteBuffers: true });
}

/** Without the bytes; null if the card was never requested. */
export function readCardState({ previewCards }: ServersDeps, serverId: ObjectId): Promise<CardState | null> {
  return previewCards.findOne({ _id: serverId }, { projection: { png: 0 } });
}

/**
 * There is no drawing, or it is an hour old, or it is a minute old and has another key. False if the card is already
 * due, or for an hour after three failures in a row.
 */
export function isOutdated(card: CardState | null, key: string, now: Date): boolean {
  if (!card) return true;
  const { dueAt, failedUntil, drawnAt, drawnKey } = card;
  if (dueAt || (failedUntil && failedUntil > now)) return false;
  if (!drawnAt) return true;
  return drawnAt <= after(now, -(drawnKey === key ? FIGURES_MS : REDRAWN_AFTER_MS));
}

/** In one operation: a chat that shows many links requests many cards. */
const markCards = upsertLoader<PreviewCard>(REPLICATED, 100);

/**
 * Unless it is due already: a second mark would discard the drawing of a worker. The mark is in MongoDB, so the card is
 * drawn even if its job is lost.
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
    if (!isDuplicateKey(error)) throw error;
  });
}

export async function noteAsked(
  { previewCards, clock }: ServersDeps,
  serverId: ObjectId,
  { askedAt }: CardState,
): Promise<void> {
  const now = clock.now();
  if (askedAt <= after(now, -DAY))
    await previewCards.updateOne({ _id: serverId }, { $set: { askedAt: now } });
}

/** Including those whose jobs were lost. */
export function dueCards({ previewCards, clock }: ServersDeps): Promise<ObjectId[]> {
  return previewCards
    .find({ dueAt: { $lte: clock.now() } }, { projection: { _id: 1 } })
    .sort({ dueAt: 1 })
    .limit(MOST_A_ROUND)
    .map(({ _id }) => _id)
    .toArray();
}

/** Up to 1,000 per call. Returns their number. */
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

/** Time to wait for the picture process, which takes at most 30 s for each picture. */
const LEASE_MS = 2 * MINUTE;

/** In bytes. */
const LARGEST_CARD = 512 * 1_024;

/** `not-due`: there is nothing to draw now. `unwanted`: the server is hidden or removed. */
export type DrawingResult = 'drawn' | 'failed' | 'unwanted' | 'not-due';

/**
 * After a failure, the next attempt is a minute later; after three in a row, at least an hour later.
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
    // Attempts are counted, because no failure is recorded if the picture process and the worker died together.
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

/** Counts the attempt; null if the card is not due or another worker is drawing it. */
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
