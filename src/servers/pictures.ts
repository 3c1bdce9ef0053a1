import { createHash } from 'node:crypto';
import { ObjectId, type WithId } from 'mongodb';
import { recordAudit } from '../platform/audit/audit-log.ts';
import { after, HOUR, MINUTE } from '../platform/clock.ts';
import { retryOnDuplicateKey } from '../platform/mongo.ts';
import { checkBanner, checkIcon } from '../platform/pictures/check-upload.ts';
import { PictureError } from '../platform/pictures/picture-error.ts';
import { storedLogos } from '../settings/stored-settings.ts';
import type { ServersDeps } from './deps.ts';
import { deleteUpload, storeUpload } from './picture-uploads.ts';
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
  await retryOnDuplicateKey(() =>
    pictures.updateOne({ _id }, { $set: { usedAt: clock.now() }, $setOnInsert: { bytes } }, { upsert: true }),
  );
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

/**
 * Stores the banner unchanged. A worker encodes it (encode-upload.ts); until then the server keeps its old one.
 *
 * @throws {PictureError} for a picture that is refused; if only the encoder refuses it, the profile says so
 */
export async function uploadBanner(deps: ServersDeps, server: WithId<Server>, bytes: Buffer, by: string) {
  checkBanner(bytes);
  const id = new ObjectId().toHexString();
  await storeUpload(deps, { _id: id, serverId: server._id, kind: 'banner', bytes, by });
  // If this process dies here: no server refers to the upload, so the worker deletes it.
  const before = await deps.servers.findOneAndUpdate(
    { _id: server._id, removedAt: null },
    { $set: { 'profile.bannerUpload': { id, at: deps.clock.now() } } },
  );
  const replaced = before ? before.profile?.bannerUpload?.id : id;
  if (replaced) await deleteUpload(deps, replaced);
  if (before) await deps.producer.add('encode-pictures', { uploadId: id }, { subject: server.slug });
}

/** Also an uploaded banner that waits for a worker or was refused. */
export async function removeBanner(deps: ServersDeps, server: WithId<Server>, by: string): Promise<void> {
  const before = await deps.servers.findOneAndUpdate(
    {
      _id: server._id,
      $or: [{ 'profile.banner': { $exists: true } }, { 'profile.bannerUpload': { $exists: true } }],
    },
    { $set: { changedAt: deps.clock.now() }, $unset: { 'profile.banner': '', 'profile.bannerUpload': '' } },
  );
  if (!before) return;
  if (before.profile?.bannerUpload) await deleteUpload(deps, before.profile.bannerUpload.id);
  await deleteUnusedPictures(deps, pictureIdsOf(before));
  await recordAudit(deps, { by, action: 'server.banner-remove', serverId: server._id, details: {} });
}

const DATA_URL = /^data:image\/png;base64,([A-Za-z0-9+/=\s]+)$/;

/** It never changes, so a newer icon replaces the waiting one. */
const iconUploadId = ({ _id }: WithId<Server>) => `icon-${_id.toHexString()}`;

/**
 * Stores a changed icon for a worker. A refused icon is remembered, so that it is not decoded again. If the answer has
 * no icon, the stored one is removed. `icon`: a data URL as Minecraft servers send it.
 */
export async function takeIcon(deps: ServersDeps, server: WithId<Server>, icon: string | undefined) {
  const { profile } = server;
  const source = icon === undefined ? undefined : createHash('sha256').update(icon).digest('hex');
  if (profile?.icon?.source === source) return;
  if (source === undefined) {
    await deleteUpload(deps, iconUploadId(server));
    // The hash of a refused or removed icon stays stored: otherwise the server could set the same icon again later.
    if (profile?.icon?.picture) await setIcon(deps, server._id, undefined);
    return;
  }
  const bytes = iconBytes(icon ?? '');
  if (!bytes) return setIcon(deps, server._id, { source });
  const upload = { _id: iconUploadId(server), serverId: server._id, kind: 'icon', bytes, source } as const;
  if (!(await storeUpload(deps, upload))) return;
  await deps.producer.add('encode-pictures', { uploadId: upload._id }, { subject: server.slug });
}

/** Null if the icon is refused. */
function iconBytes(icon: string): Buffer | null {
  const [, base64] = DATA_URL.exec(icon) ?? [];
  const bytes = Buffer.from(base64 ?? '', 'base64');
  try {
    checkIcon(bytes);
    return bytes;
  } catch (error) {
    if (!(error instanceof PictureError)) throw error;
    return null;
  }
}

/**
 * Also deletes the picture of the previous icon. A refused icon has no picture; then an operator's reason for the
 * removal of an earlier icon stays.
 */
export async function setIcon(
  deps: ServersDeps,
  serverId: ObjectId,
  icon: { source: string; picture?: string } | undefined,
): Promise<void> {
  const changedAt = deps.clock.now();
  const before = await deps.servers.findOneAndUpdate(
    { _id: serverId, removedAt: null },
    {
      ...(icon
        ? { $set: { 'profile.icon': icon, changedAt } }
        : { $set: { changedAt }, $unset: { 'profile.icon': '' } }),
      ...(icon?.picture ? { $pull: { 'profile.removals': { part: 'icon' } } } : {}),
    },
  );
  if (before) await deleteUnusedPictures(deps, pictureIdsOf(before));
}
