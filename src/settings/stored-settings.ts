import type { Collection } from 'mongodb';
import { type InferRawDocType, Schema } from 'mongoose';
import { type SecretBox, UnsealError } from '../platform/secrets.ts';
import { type ChangeableName, isChangeable, isSealed } from './changeable.ts';

const storedSettingsDefinition = {
  _id: { type: String, required: true },
  /** By name, each as an environment variable would have it; secrets are sealed. */
  texts: { type: Object, required: true },
  revision: { type: Number, required: true },
  changedIn: { type: Object, required: true },
  at: { type: Date, required: true },
  /** Who made the last change: an operator's e-mail address, or `cli`. */
  by: { type: String, required: true },
  /** The texts before the last change, which can be undone. */
  before: { type: Object, required: true },
} as const;

/** One document or none. */
export const storedSettingsSchema = new Schema(storedSettingsDefinition, {
  collection: 'settings',
  minimize: false,
});

/** A later version may have stored names that this one does not know. */
export type StoredTexts = Record<string, string>;

export type StoredSettings = Omit<
  InferRawDocType<typeof storedSettingsDefinition>,
  'texts' | 'before' | 'changedIn'
> & {
  texts: StoredTexts;
  before: StoredTexts;
  changedIn: Record<string, number>;
};

export const SITE_SETTINGS = 'site';

/** The encryption context: a text that was sealed for one setting cannot be opened for another one. */
const contextOf = (name: ChangeableName) => `setting ${name}`;

export function sealedText(secrets: Pick<SecretBox, 'seal'>, name: ChangeableName, text: string): string {
  return isSealed(name) ? secrets.seal(text, contextOf(name)) : text;
}

export type OpenedTexts = {
  texts: Partial<Record<ChangeableName, string>>;
  unreadable: Partial<Record<ChangeableName, string>>;
};

/** Names that this version does not know are left out. */
export function openTexts(secrets: Pick<SecretBox, 'open'>, stored: StoredTexts): OpenedTexts {
  const opened: OpenedTexts = { texts: {}, unreadable: {} };
  for (const [name, text] of Object.entries(stored)) {
    if (!isChangeable(name)) continue;
    try {
      opened.texts[name] = isSealed(name) ? secrets.open(text, contextOf(name)) : text;
    } catch (error) {
      if (!(error instanceof UnsealError)) throw error;
      opened.unreadable[name] = error.message;
    }
  }
  return opened;
}

/** Also that of the logo before the last change, because that change can be undone. */
export async function storedLogos(settings: Collection<StoredSettings>): Promise<string[]> {
  const projection = { 'texts.LOGO_PICTURE': 1, 'before.LOGO_PICTURE': 1 };
  const stored = await settings.findOne({ _id: SITE_SETTINGS }, { projection });
  const texts = [stored?.texts?.LOGO_PICTURE, stored?.before?.LOGO_PICTURE];
  return texts.flatMap((text) => text?.split(' ')[0] ?? []);
}
