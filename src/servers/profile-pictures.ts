import { createHash } from 'node:crypto';
import type { Collection, WithId } from 'mongodb';
import { type AuditEntry, recordAudit } from '../platform/audit/audit-log.ts';
import { encodeBanner, encodeIcon } from '../platform/pictures/encode-picture.ts';
import { PictureError } from '../platform/pictures/picture-error.ts';
import { deleteUnusedPictures, type Pictures, picturesOf, storePicture } from './pictures.ts';
import type { Icon } from './profile.ts';
import type { Server } from './server.ts';

type Editing = Pictures & { auditLog: Collection<AuditEntry> };

/**
 * Replaces a server's banner by an uploaded picture.
 *
 * @throws {PictureError} for a picture that is refused
 */
export async function setBanner(
  deps: Editing,
  server: WithId<Server>,
  upload: Buffer,
  by: string,
): Promise<void> {
  const { wide, narrow } = await encodeBanner(upload);
  const { width, height } = wide;
  const banner = {
    wide: await storePicture(deps, wide.bytes),
    narrow: await storePicture(deps, narrow.bytes),
    width,
    height,
  };
  const before = await deps.servers.findOneAndUpdate(
    { _id: server._id, removedAt: null },
    { $set: { 'profile.banner': banner }, $pull: { 'profile.removals': { part: 'banner' } } },
  );
  if (before) await deleteUnusedPictures(deps, picturesOf(before));
  const details = { picture: banner.wide, width, height };
  await recordAudit(deps, { by, action: 'server.banner', serverId: server._id, details });
}

/** Removes a server's banner. A repeated call changes nothing. */
export async function removeBanner(deps: Editing, server: WithId<Server>, by: string): Promise<void> {
  const before = await deps.servers.findOneAndUpdate(
    { _id: server._id, 'profile.banner': { $exists: true } },
    { $unset: { 'profile.banner': '' } },
  );
  if (!before) return;
  await deleteUnusedPictures(deps, picturesOf(before));
  await recordAudit(deps, { by, action: 'server.banner-remove', serverId: server._id, details: {} });
}

const DATA_URL = /^data:image\/png;base64,([A-Za-z0-9+/=\s]+)$/;

/**
 * Stores the icon of a game server's newest answer, if it changed. An icon that is refused is remembered and not read
 * again; without one, the stored icon is removed.
 *
 * @param icon - a data URL as Minecraft servers send it
 */
export async function takeIcon(
  deps: Pictures,
  { _id, profile }: WithId<Server>,
  icon: string | undefined,
): Promise<void> {
  const source = icon === undefined ? undefined : createHash('sha256').update(icon).digest('hex');
  if (profile?.icon?.source === source) return;
  // A refused or removed icon is remembered, so that a server cannot bring it back by a pause.
  if (source === undefined && !profile?.icon?.picture) return;
  const taken = source === undefined ? null : await readIcon(deps, icon ?? '', source);
  // Too many pictures wait: the next answer is soon enough.
  if (taken === undefined) return;
  const before = await deps.servers.findOneAndUpdate(
    { _id, removedAt: null },
    taken
      ? { $set: { 'profile.icon': taken }, $pull: { 'profile.removals': { part: 'icon' } } }
      : { $unset: { 'profile.icon': '' } },
  );
  if (before) await deleteUnusedPictures(deps, picturesOf(before));
}

/** The stored icon, or undefined to try again with the next answer. */
async function readIcon(deps: Pictures, icon: string, source: string): Promise<Icon | undefined> {
  const [, base64] = DATA_URL.exec(icon) ?? [];
  try {
    const { bytes } = await encodeIcon(Buffer.from(base64 ?? '', 'base64'));
    return { source, picture: await storePicture(deps, bytes) };
  } catch (error) {
    if (!(error instanceof PictureError)) throw error;
    return error.code === 'busy' || error.code === 'slow' ? undefined : { source };
  }
}
