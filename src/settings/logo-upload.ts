import { randomBytes } from 'node:crypto';
import type { Collection } from 'mongodb';
import { type InferRawDocType, Schema } from 'mongoose';
import { after, type Clock, HOUR } from '../platform/clock.ts';

const logoUploadDefinition = {
  _id: { type: String, required: true, match: /^[0-9a-f]{24}$/ },
  /** Unchanged. It is never served and is in no backup. */
  bytes: { type: Buffer, required: true },
  expiresAt: { type: Date, required: true },
} as const;

export const logoUploadSchema = new Schema(logoUploadDefinition, { collection: 'logo_uploads' });
logoUploadSchema.index({ expiresAt: 1 }, { expireAfterSeconds: 0 });

export type LogoUpload = Omit<InferRawDocType<typeof logoUploadDefinition>, 'bytes'> & { bytes: Buffer };

type UploadDeps = { logoUploads: Collection<LogoUpload>; clock: Clock };

/** For a worker, for an hour at most. Returns the id. */
export async function storeLogoUpload({ logoUploads, clock }: UploadDeps, bytes: Buffer): Promise<string> {
  const _id = randomBytes(12).toString('hex');
  await logoUploads.insertOne({ _id, bytes, expiresAt: after(clock.now(), HOUR) });
  return _id;
}

/** Null when the file is gone. */
export async function takeLogoUpload({ logoUploads }: Pick<UploadDeps, 'logoUploads'>, id: string) {
  const found = await logoUploads.findOneAndDelete({ _id: id }, { promoteBuffers: true });
  return found?.bytes ?? null;
}
