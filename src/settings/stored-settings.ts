import { type InferRawDocType, Schema } from 'mongoose';

const storedSettingsDefinition = {
  _id: { type: String, required: true },
  /** The stored settings by name, each as the text that an environment variable would have. */
  texts: { type: Object, required: true },
  /** Counts the changes, from 1. */
  revision: { type: Number, required: true },
  at: { type: Date, required: true },
  /** Who changed them last: an address, or `cli`. */
  by: { type: String, required: true },
  /** The texts before the last change, which can be undone. */
  before: { type: Object, required: true },
} as const;

/** The settings that operators changed in the admin area: one document or none. */
export const storedSettingsSchema = new Schema(storedSettingsDefinition, {
  collection: 'settings',
  minimize: false,
});

export type StoredSettings = Omit<InferRawDocType<typeof storedSettingsDefinition>, 'texts' | 'before'> & {
  texts: Record<string, string>;
  before: Record<string, string>;
};

/** The id of the document. */
export const SITE_SETTINGS = 'site';
