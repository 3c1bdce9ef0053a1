import type { ObjectId, WithId } from 'mongodb';
import { upsertLoader } from '../platform/batching/write-loaders.ts';
import { after, DAY, HOUR, MINUTE } from '../platform/clock.ts';
import { isDuplicateKey, REPLICATED } from '../platform/mongo.ts';
import { type BannerSize, bannerSizeSchema } from '../platform/pictures/banner-sizes.ts';
import { PictureError, PictureProcessError } from '../platform/pictures/picture-error.ts';
import type { ServersDeps } from './deps.ts';
import type { DrawnPicture } from './drawn-picture.ts';
import type { Server } from './server.ts';

/** About 40 KB each, or 300 KB with a photo as banner. */
const MOST_PICTURES = 10_000;
const MOST_A_ROUND = 1_000;

/** The drawings of one kind: where they are, and how old they become. */
export type DrawnKind = {
  collection: 'previewCards' | 'bannerPictures';
  failed: 'card.failed' | 'banner.failed';
  /** If the key changed: a request marks the picture as due only if its drawing is this old. */
  redrawnAfterMs: number;
  /** Then a picture is drawn again for its figures. */
  figuresMs: number;
  /** A request is noted this long after the one that was noted before. */
  notedMs: number;
};

/** Chats cache previews for longer than an hour. */
export const PREVIEWS: DrawnKind = {
  collection: 'previewCards',
  failed: 'card.failed',
  redrawnAfterMs: MINUTE,
  figuresMs: HOUR,
  notedMs: DAY,
};

export const BANNERS: DrawnKind = {
  collection: 'bannerPictures',
  failed: 'banner.failed',
  redrawnAfterMs: 5 * MINUTE,
  figuresMs: 5 * MINUTE,
  notedMs: HOUR,
};

export type PictureId = DrawnPicture['_id'];

export function bannerId(serverId: ObjectId, size: BannerSize): string {
  return `${serverId.toHexString()}-${size}`;
}

/** Of `bannerId`. */
export function bannerOfId(id: PictureId): { serverId: string; banner: BannerSize } {
  const [serverId = '', size] = String(id).split('-');
  return { serverId, banner: bannerSizeSchema.parse(size) };
}

/** Of a removed server. */
export async function deleteDrawnPictures(
  { previewCards, bannerPictures }: ServersDeps,
  serverId: ObjectId,
): Promise<void> {
  await previewCards.deleteOne({ _id: serverId });
  const sizes = bannerSizeSchema.options;
  await bannerPictures.deleteMany({ _id: { $in: sizes.map((size) => bannerId(serverId, size)) } });
}

export type DrawingState = Pick<DrawnPicture, 'dueAt' | 'failedUntil' | 'drawnKey' | 'drawnAt' | 'askedAt'>;

export function readDrawing(
  deps: ServersDeps,
  kind: DrawnKind,
  _id: PictureId,
): Promise<DrawnPicture | null> {
  return deps[kind.collection].findOne({ _id }, { promoteBuffers: true });
}

/** Without the bytes; null if the picture was never requested. */
export function readDrawingState(
  deps: ServersDeps,
  kind: DrawnKind,
  _id: PictureId,
): Promise<DrawingState | null> {
  return deps[kind.collection].findOne({ _id }, { projection: { png: 0 } });
}

/**
 * There is no drawing, or it is too old for its figures, or for its key if that has changed. False if the picture is
 * already due, or for an hour after three failures in a row.
 */
export function isOutdated(
  { figuresMs, redrawnAfterMs }: DrawnKind,
  picture: DrawingState | null,
  key: string,
  now: Date,
): boolean {
  if (!picture) return true;
  const { dueAt, failedUntil, drawnAt, drawnKey } = picture;
  if (dueAt || (failedUntil && failedUntil > now)) return false;
  if (!drawnAt) return true;
  return drawnAt <= after(now, -(drawnKey === key ? figuresMs : redrawnAfterMs));
}

/** In one operation: a chat or forum that shows many links requests many pictures. */
const markDrawings = upsertLoader<DrawnPicture>(REPLICATED, 100);

/**
 * Unless it is due already: a second mark would discard the drawing of a worker. The mark is in MongoDB, so the
 * picture is drawn even if its job is lost.
 */
export async function markDue(
  deps: ServersDeps,
  { collection }: DrawnKind,
  _id: PictureId,
  key: string,
): Promise<void> {
  const now = deps.clock.now();
  const mark = {
    q: { _id, dueAt: { $exists: false } },
    u: { $set: { key, dueAt: now, askedAt: now, attempts: 0 } },
  };
  await deps.batcher.load(markDrawings, deps[collection], mark).catch((error: unknown) => {
    if (!isDuplicateKey(error)) throw error;
  });
}

export async function noteAsked(
  deps: ServersDeps,
  { collection, notedMs }: DrawnKind,
  _id: PictureId,
  { askedAt }: DrawingState,
): Promise<void> {
  const now = deps.clock.now();
  if (askedAt <= after(now, -notedMs)) await deps[collection].updateOne({ _id }, { $set: { askedAt: now } });
}

/** Including those whose jobs were lost. */
export function dueDrawings(deps: ServersDeps, { collection }: DrawnKind): Promise<PictureId[]> {
  return deps[collection]
    .find({ dueAt: { $lte: deps.clock.now() } }, { projection: { _id: 1 } })
    .sort({ dueAt: 1 })
    .limit(MOST_A_ROUND)
    .map(({ _id }) => _id)
    .toArray();
}

/** Deletes those whose last request is the longest ago: up to 1,000 per call. Returns their number. */
export async function trimDrawings(deps: ServersDeps, { collection }: DrawnKind, most = MOST_PICTURES) {
  const pictures = deps[collection];
  const over = Math.min(MOST_A_ROUND, (await pictures.estimatedDocumentCount()) - most);
  if (over <= 0) return 0;
  const oldest = await pictures
    .find({}, { projection: { _id: 1 } })
    .sort({ askedAt: 1 })
    .limit(over)
    .map(({ _id }) => _id)
    .toArray();
  return (await pictures.deleteMany({ _id: { $in: oldest } })).deletedCount;
}

/** After this many failures in a row, no worker draws the picture for an hour. */
const MOST_ATTEMPTS = 3;
const RETRY_MS = MINUTE;
const FAILED_MS = HOUR;

/** Time to wait for the picture process, which takes at most 30 s for each picture. */
const LEASE_MS = 2 * MINUTE;

/** In bytes. */
const LARGEST_DRAWING = 512 * 1_024;

/** `not-due`: there is nothing to draw now. `unwanted`: the server is hidden or removed. */
export type DrawingResult = 'drawn' | 'failed' | 'unwanted' | 'not-due';

/**
 * After a failure, the next attempt is a minute later; after three in a row, at least an hour later.
 *
 * @throws {PictureProcessError} when this process stops; the picture is due again
 */
export async function drawPicture(
  deps: ServersDeps,
  kind: DrawnKind,
  { serverId, id: _id }: { serverId: ObjectId; id: PictureId },
  draw: (server: WithId<Server>) => Promise<Buffer>,
): Promise<DrawingResult> {
  const { clock, log } = deps;
  const pictures = deps[kind.collection];
  const picture = await takeDrawing(deps, kind, _id);
  if (!picture) return 'not-due';
  const { attempts, key } = picture;
  const server = await deps.servers.findOne({ _id: serverId, removedAt: null, hiddenAt: null });
  if (!server) {
    await pictures.deleteOne({ _id });
    return 'unwanted';
  }
  const taken = { _id, attempts };
  try {
    // Attempts are counted, because no failure is recorded if the picture process and the worker died together.
    if (attempts > MOST_ATTEMPTS) throw new PictureProcessError('ended', 'it failed too often');
    const png = await draw(server);
    if (png.length > LARGEST_DRAWING) throw new PictureError('too-large');
    await pictures.updateOne(taken, {
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
      await pictures.updateOne(taken, { $set: again, $unset: { leaseUntil: '' } });
      if (isStopped) throw error;
    } else {
      const failed = { failedUntil: after(now, FAILED_MS), attempts: 0 };
      await pictures.updateOne(taken, { $set: failed, $unset: { dueAt: '', leaseUntil: '' } });
    }
    log.warn({ event: kind.failed, serverId: serverId.toHexString(), attempts, reason: error.code });
    return 'failed';
  }
}

/** Counts the attempt; null if the picture is not due or another worker is drawing it. */
function takeDrawing(
  deps: ServersDeps,
  { collection }: DrawnKind,
  _id: PictureId,
): Promise<DrawnPicture | null> {
  return deps[collection].findOneAndUpdate(
    {
      _id,
      dueAt: { $lte: deps.clock.now() },
      $expr: { $lte: [{ $ifNull: ['$leaseUntil', new Date(0)] }, '$$NOW'] },
    },
    [{ $set: { attempts: { $add: ['$attempts', 1] }, leaseUntil: { $add: ['$$NOW', LEASE_MS] } } }],
    { returnDocument: 'after', projection: { png: 0 } },
  );
}
