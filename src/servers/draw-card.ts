import type { ObjectId, WithId } from 'mongodb';
import { after, HOUR, MINUTE } from '../platform/clock.ts';
import { PictureError, PictureProcessError } from '../platform/pictures/picture-error.ts';
import type { ServersDeps } from './deps.ts';
import type { PreviewCard } from './preview-card.ts';
import type { Server } from './server.ts';

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
