import { type InferRawDocType, Schema } from 'mongoose';

const pictureDefinition = {
  /** The SHA-256 of the bytes, in hex. So equal pictures are stored once, and the bytes of an id never change. */
  _id: { type: String, required: true, match: /^[0-9a-f]{64}$/ },
  /** WebP. */
  bytes: { type: Buffer, required: true },
  /** When the picture was last stored. It is not deleted in the next minute: the reference to it is stored later. */
  usedAt: { type: Date, required: true },
} as const;

/** The icons and banners of servers, and the logo of the listing. */
export const pictureSchema = new Schema(pictureDefinition, { collection: 'pictures' });

export type Picture = Omit<InferRawDocType<typeof pictureDefinition>, 'bytes'> & { bytes: Buffer };
