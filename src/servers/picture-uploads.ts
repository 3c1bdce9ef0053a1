import type { ObjectId } from 'mongodb';
import { after, DAY, MINUTE } from '../platform/clock.ts';
import { checked } from '../platform/document.ts';
import { isDuplicateKey } from '../platform/mongo.ts';
import type { ServersDeps } from './deps.ts';
import type { PictureUpload } from './picture.ts';

export const UPLOAD_TTL_MS = DAY;

/** Time to wait for the picture process, which takes at most 30 s for each picture. */
const LEASE_MS = 2 * MINUTE;

const MOST_A_ROUND = 1_000;

type NewUpload = Pick<PictureUpload, '_id' | 'serverId' | 'kind' | 'bytes'> & {
  source?: string;
  by?: string;
};

/**
 * An uploaded banner, or the icon in a probe's answer. The caller adds the job, and stores a banner's id in
 * `profile.bannerUpload`: a worker encodes no banner that the server's document does not name. False when the upload
 * with this id already has this source.
 */
export async function storeUpload({ pictureUploads, clock }: ServersDeps, { _id, ...upload }: NewUpload) {
  const now = clock.now();
  const times = { uploadedAt: now, nextAt: now, attempts: 0, expiresAt: after(now, UPLOAD_TTL_MS) };
  const fields = { ...upload, ...times };
  await checked<PictureUpload>(pictureUploads, { _id, ...fields });
  const isOther = upload.source === undefined ? {} : { source: { $ne: upload.source } };
  try {
    await pictureUploads.updateOne(
      { _id, ...isOther },
      { $set: fields, $unset: { leaseUntil: '' } },
      { upsert: true },
    );
    return true;
  } catch (error) {
    if (isDuplicateKey(error)) return false;
    throw error;
  }
}

export async function deleteUpload({ pictureUploads }: ServersDeps, uploadId: string): Promise<void> {
  await pictureUploads.deleteOne({ _id: uploadId });
}

export async function deleteUploadsOf({ pictureUploads }: ServersDeps, serverId: ObjectId): Promise<void> {
  await pictureUploads.deleteMany({ serverId });
}

/** Including uploads whose jobs were lost. */
export function dueUploads({ pictureUploads, clock }: ServersDeps): Promise<string[]> {
  return pictureUploads
    .find({ nextAt: { $lte: clock.now() } }, { projection: { _id: 1 } })
    .sort({ nextAt: 1 })
    .limit(MOST_A_ROUND)
    .map(({ _id }) => _id)
    .toArray();
}

/** Counts the attempt; null if the upload is not due or another worker is encoding it. */
export function takeUpload({ pictureUploads, clock }: ServersDeps, uploadId: string) {
  return pictureUploads.findOneAndUpdate(
    {
      _id: uploadId,
      nextAt: { $lte: clock.now() },
      $expr: { $lte: [{ $ifNull: ['$leaseUntil', new Date(0)] }, '$$NOW'] },
    },
    [{ $set: { attempts: { $add: ['$attempts', 1] }, leaseUntil: { $add: ['$$NOW', LEASE_MS] } } }],
    { returnDocument: 'after', promoteBuffers: true },
  );
}

/** A worker may take it again after `afterMs`. `counts` is false if the encoding did not fail. */
export async function giveBackUpload(
  { pictureUploads, clock }: ServersDeps,
  { _id, attempts, uploadedAt }: PictureUpload,
  { afterMs, counts }: { afterMs: number; counts: boolean },
): Promise<void> {
  await pictureUploads.updateOne(
    { _id, attempts, uploadedAt },
    {
      $set: { nextAt: after(clock.now(), afterMs), attempts: counts ? attempts : attempts - 1 },
      $unset: { leaseUntil: '' },
    },
  );
}
