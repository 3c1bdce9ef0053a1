import { createHash } from 'node:crypto';
import { after, HOUR, MINUTE } from '../platform/clock.ts';
import { isDuplicateKey } from '../platform/mongo.ts';
import { storedLogos } from '../settings/stored-settings.ts';
import type { ServersDeps } from './deps.ts';
import type { Server } from './server.ts';

/** The reference to a picture may be stored this much later than the picture. */
const REFERENCED_WITHIN_MS = MINUTE;
/** `sweepPictures` leaves younger pictures to a later sweep. */
const SWEPT_AFTER_MS = HOUR;
const AT_ONCE = 500;

/**
 * Returns its id, which the caller must store in a server or the settings within a minute: after that, an unused
 * picture may be deleted.
 */
export async function storePicture({ pictures, clock }: ServersDeps, bytes: Buffer): Promise<string> {
  const _id = createHash('sha256').update(bytes).digest('hex');
  const store = () =>
    pictures.updateOne({ _id }, { $set: { usedAt: clock.now() }, $setOnInsert: { bytes } }, { upsert: true });
  await store().catch((error: unknown) => {
    if (isDuplicateKey(error)) return store();
    throw error;
  });
  return _id;
}

export async function readPicture({ pictures }: ServersDeps, id: string): Promise<Buffer | null> {
  const found = await pictures.findOne({ _id: id }, { promoteBuffers: true });
  return found?.bytes ?? null;
}

export function pictureIdsOf({ profile }: Pick<Server, 'profile'>): string[] {
  const { icon, banner } = profile ?? {};
  return [icon?.picture, banner?.wide, banner?.narrow].filter((id) => id !== undefined && id !== null);
}

/** Except those of the last minute. Returns how many were deleted. */
export async function deleteUnusedPictures(deps: ServersDeps, ids: string[]): Promise<number> {
  return ids.length === 0 ? 0 : deleteUnused(deps, ids, REFERENCED_WITHIN_MS);
}

/** Those that neither a listed server nor the settings use, except of the last hour. Returns how many were deleted. */
export async function sweepPictures(deps: ServersDeps): Promise<number> {
  let deleted = 0;
  let last = '';
  for (;;) {
    const some = await deps.pictures
      .find({ _id: { $gt: last } }, { projection: { _id: 1 } })
      .sort({ _id: 1 })
      .limit(AT_ONCE)
      .map(({ _id }) => _id)
      .toArray();
    last = some.at(-1) ?? '';
    if (last === '') return deleted;
    deleted += await deleteUnused(deps, some, SWEPT_AFTER_MS);
  }
}

async function deleteUnused(
  { pictures, servers, settings, clock }: ServersDeps,
  ids: string[],
  ageMs: number,
): Promise<number> {
  const fields = ['profile.icon.picture', 'profile.banner.wide', 'profile.banner.narrow'];
  const showing = { $or: fields.map((field) => ({ [field]: { $in: ids } })), removedAt: null };
  const projection = { 'profile.icon.picture': 1, 'profile.banner': 1 };
  const users = await servers.find(showing, { projection }).toArray();
  const used = new Set([...users.flatMap(pictureIdsOf), ...(await storedLogos(settings))]);
  const unused = ids.filter((id) => !used.has(id));
  if (unused.length === 0) return 0;
  // A picture that is stored again meanwhile has a newer time and stays.
  const stored = { $lte: after(clock.now(), -ageMs) };
  const { deletedCount } = await pictures.deleteMany({ _id: { $in: unused }, usedAt: stored });
  return deletedCount;
}
