import type { WithId } from 'mongodb';
import { recordAudit } from '../platform/audit/audit-log.ts';
import { MINUTE, SECOND } from '../platform/clock.ts';
import {
  PictureError,
  type PictureFailure,
  PictureProcessError,
} from '../platform/pictures/picture-error.ts';
import type { PictureProcess } from '../platform/pictures/picture-process.ts';
import type { ServersDeps } from './deps.ts';
import type { PictureUpload } from './picture.ts';
import { deleteUpload, giveBackUpload, takeUpload } from './picture-uploads.ts';
import { deleteUnusedPictures, pictureIdsOf, setIcon, storePicture } from './pictures.ts';
import type { Server } from './server.ts';

type EncodeDeps = ServersDeps & { pictureProcess: PictureProcess };

/** `not-due`: nothing to do now. `unwanted`: it was replaced, or its server removed. */
export type EncodingResult = 'encoded' | 'refused' | 'unwanted' | 'failed' | 'not-due';

/** After so many attempts in which the picture process died or took too long, the picture is refused as too slow. */
const MOST_ATTEMPTS = 3;
const RETRY_MS = 10 * SECOND;

/** An upload to which no server refers by then is deleted. It is stored a moment before the reference. */
const NAMED_WITHIN_MS = MINUTE;

/**
 * Sets the encoded picture and deletes the uploaded file. If a banner is refused, the profile says why. Running it
 * twice has the same result, because the name of the stored picture is its hash.
 *
 * @throws {PictureProcessError} when this process stops; the upload is due again
 */
export async function encodeUpload(deps: EncodeDeps, uploadId: string): Promise<EncodingResult> {
  const upload = await takeUpload(deps, uploadId);
  if (!upload) return 'not-due';
  const server = await deps.servers.findOne({ _id: upload.serverId, removedAt: null });
  if (!server || !isWanted(upload, server)) return discard(deps, upload, server);
  // Attempts are counted, because no failure is recorded if the picture process and the worker died together.
  if (upload.attempts > MOST_ATTEMPTS) return refuse(deps, upload, 'slow');
  try {
    await (upload.kind === 'banner' ? encodeBanner(deps, upload) : encodeIcon(deps, upload));
  } catch (error) {
    if (error instanceof PictureError) return refuse(deps, upload, error.code);
    if (!(error instanceof PictureProcessError)) throw error;
    if (error.code !== 'stopped' && upload.attempts >= MOST_ATTEMPTS) return refuse(deps, upload, 'slow');
    const isOurs = error.code === 'stopped';
    await giveBackUpload(deps, upload, { afterMs: isOurs ? 0 : RETRY_MS, counts: !isOurs });
    if (isOurs) throw error;
    return 'failed';
  }
  await deleteTaken(deps, upload);
  deps.log.info({ event: 'picture.encoded', kind: upload.kind, serverId: upload.serverId.toHexString() });
  return 'encoded';
}

/** An icon is always wanted: it replaces an earlier one. */
function isWanted({ _id, kind }: PictureUpload, { profile }: Server): boolean {
  return kind === 'icon' || profile?.bannerUpload?.id === _id;
}

/** A new upload of a listed server stays: the server may refer to it soon. */
async function discard(
  deps: EncodeDeps,
  upload: PictureUpload,
  server: WithId<Server> | null,
): Promise<EncodingResult> {
  const ageMs = deps.clock.now().getTime() - upload.uploadedAt.getTime();
  if (server && ageMs < NAMED_WITHIN_MS) {
    await giveBackUpload(deps, upload, { afterMs: NAMED_WITHIN_MS, counts: false });
    return 'not-due';
  }
  await deleteTaken(deps, upload);
  return 'unwanted';
}

/** Unless a newer icon has replaced it in the meantime. */
async function deleteTaken(deps: EncodeDeps, { _id, source }: PictureUpload): Promise<void> {
  if (source === undefined || source === null) return deleteUpload(deps, _id);
  await deps.pictureUploads.deleteOne({ _id, source });
}

async function refuse(
  deps: EncodeDeps,
  upload: PictureUpload,
  failure: PictureFailure,
): Promise<EncodingResult> {
  const { _id, kind, serverId, source } = upload;
  if (kind === 'banner')
    await deps.servers.updateOne(
      { _id: serverId, 'profile.bannerUpload.id': _id },
      { $set: { 'profile.bannerUpload.failure': failure } },
    );
  else if (source) await setIcon(deps, serverId, { source });
  await deleteTaken(deps, upload);
  deps.log.info({ event: 'picture.refused', kind, serverId: serverId.toHexString(), reason: failure });
  return 'refused';
}

async function encodeBanner(deps: EncodeDeps, { _id, serverId, bytes, by }: PictureUpload): Promise<void> {
  const { wide, narrow } = await deps.pictureProcess.run('banner', { bytes });
  const { width, height } = wide;
  const banner = {
    wide: await storePicture(deps, wide.bytes),
    narrow: await storePicture(deps, narrow.bytes),
    width,
    height,
  };
  const before = await deps.servers.findOneAndUpdate(
    { _id: serverId, removedAt: null, 'profile.bannerUpload.id': _id },
    {
      $set: { 'profile.banner': banner, changedAt: deps.clock.now() },
      $unset: { 'profile.bannerUpload': '' },
      $pull: { 'profile.removals': { part: 'banner' } },
    },
  );
  // Replaced, or the server removed, in the meantime: `sweepPictures` deletes the stored picture.
  if (!before) return;
  await deleteUnusedPictures(deps, pictureIdsOf(before));
  const details = { picture: banner.wide, width, height };
  await recordAudit(deps, { by: by ?? '', action: 'server.banner', serverId, details });
}

async function encodeIcon(deps: EncodeDeps, { serverId, bytes, source }: PictureUpload): Promise<void> {
  if (!source) return;
  const { bytes: encoded } = await deps.pictureProcess.run('icon', { bytes });
  await setIcon(deps, serverId, { source, picture: await storePicture(deps, encoded) });
}
