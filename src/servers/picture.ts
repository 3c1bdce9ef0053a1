import { type InferRawDocType, Schema } from 'mongoose';

const pictureDefinition = {
  /** The SHA-256 of the bytes, in hex: equal pictures are stored once, and the bytes of an id never change. */
  _id: { type: String, required: true, match: /^[0-9a-f]{64}$/ },
  /** WebP. */
  bytes: { type: Buffer, required: true },
  /** Not deleted in the next minute: the reference to it is stored later. */
  usedAt: { type: Date, required: true },
} as const;

export const pictureSchema = new Schema(pictureDefinition, { collection: 'pictures' });

export type Picture = Omit<InferRawDocType<typeof pictureDefinition>, 'bytes'> & { bytes: Buffer };

const pictureUploadDefinition = {
  /** For a banner, a random id; for an icon, `icon-` and the server's id. */
  _id: { type: String, required: true, match: /^(icon-)?[0-9a-f]{24}$/ },
  serverId: { type: Schema.Types.ObjectId, required: true },
  kind: { type: String, enum: ['banner', 'icon'], required: true },
  /** Its metadata may contain a place or a name, so it is never served or backed up. */
  bytes: { type: Buffer, required: true },
  /** For an icon: the SHA-256 of the icon as the server sent it. */
  source: { type: String },
  /** For a banner: the user who uploaded it, for the audit log. */
  by: { type: String },
  uploadedAt: { type: Date, required: true },
  nextAt: { type: Date, required: true },
  attempts: { type: Number, required: true },
  /** Until this time of mongod's clock, no other worker may take it. */
  leaseUntil: { type: Date },
  expiresAt: { type: Date, required: true },
} as const;

/** Uploaded pictures that no worker has encoded yet. */
export const pictureUploadSchema = new Schema(pictureUploadDefinition, { collection: 'picture_uploads' });
pictureUploadSchema.index({ nextAt: 1 });
pictureUploadSchema.index({ serverId: 1 });
pictureUploadSchema.index({ expiresAt: 1 }, { expireAfterSeconds: 0 });

export type PictureUpload = Omit<InferRawDocType<typeof pictureUploadDefinition>, 'bytes'> & {
  bytes: Buffer;
};
