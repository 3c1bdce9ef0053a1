import { type InferRawDocType, Schema } from 'mongoose';

const pictureDefinition = {
  /**
   * The SHA-256 of the bytes, in hex. Equal pictures are therefore stored once, and the bytes of an id never change.
   */
  _id: { type: String, required: true, match: /^[0-9a-f]{64}$/ },
  /** WebP. */
  bytes: { type: Buffer, required: true },
  /**
   * When it was last stored for a server. If it was stored within the last minute: the server may not refer to it yet.
   */
  usedAt: { type: Date, required: true },
} as const;

/** The icons and banners of servers. */
export const pictureSchema = new Schema(pictureDefinition, { collection: 'pictures' });

export type Picture = Omit<InferRawDocType<typeof pictureDefinition>, 'bytes'> & { bytes: Buffer };
