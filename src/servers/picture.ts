import { type InferRawDocType, Schema } from 'mongoose';

const pictureDefinition = {
  /** SHA-256 of the bytes, in hex: equal pictures are stored once, and a picture never changes. */
  _id: { type: String, required: true, match: /^[0-9a-f]{64}$/ },
  /** WebP. */
  bytes: { type: Buffer, required: true },
  /** When it was last stored for a server. A picture that was just stored may not be referenced yet. */
  usedAt: { type: Date, required: true },
} as const;

/** The icons and banners of servers. */
export const pictureSchema = new Schema(pictureDefinition, { collection: 'pictures' });

export type Picture = Omit<InferRawDocType<typeof pictureDefinition>, 'bytes'> & { bytes: Buffer };
