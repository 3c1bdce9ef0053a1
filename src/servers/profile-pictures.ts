import { createHash } from 'node:crypto';
import { ObjectId, type WithId } from 'mongodb';
import { recordAudit } from '../platform/audit/audit-log.ts';
import { checkBanner, checkIcon } from '../platform/pictures/check-upload.ts';
import { PictureError } from '../platform/pictures/picture-error.ts';
import type { ServersDeps } from './deps.ts';
import { deleteUpload, storeUpload } from './picture-uploads.ts';
import { deleteUnusedPictures, pictureIdsOf } from './pictures.ts';
import type { Server } from './server.ts';

/**
 * Stores the banner unchanged. A worker encodes it (encode-upload.ts); until then the server keeps its old one.
 *
 * @throws {PictureError} for a picture that is refused; if only the encoder refuses it, the profile says so
 */
export async function uploadBanner(
  deps: ServersDeps,
  server: WithId<Server>,
  bytes: Buffer,
  by: string,
): Promise<void> {
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
export async function takeIcon(
  deps: ServersDeps,
  server: WithId<Server>,
  icon: string | undefined,
): Promise<void> {
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
