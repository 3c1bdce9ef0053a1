import type { Collection } from 'mongodb';
import { type InferRawDocType, Schema } from 'mongoose';
import { type SecretBox, UnsealError } from '../platform/secrets.ts';
import { type ChangeableName, isChangeable, isSealed } from './changeable.ts';

const storedSettingsDefinition = {
  _id: { type: String, required: true },
  /** The stored settings by name, each as the text that an environment variable would have; secrets are sealed. */
  texts: { type: Object, required: true },
  /** The number of changes. */
  revision: { type: Number, required: true },
  /** The revision of the last change of each setting. */
  changedIn: { type: Object, required: true },
  at: { type: Date, required: true },
  /** The e-mail address of the operator who made the last change, or `cli`. */
  by: { type: String, required: true },
  /** The texts before the last change, which can be undone. */
  before: { type: Object, required: true },
} as const;

/** The settings that operators changed in the admin area: one document or none. */
export const storedSettingsSchema = new Schema(storedSettingsDefinition, {
  collection: 'settings',
  minimize: false,
});

/** Texts of settings by name, as they are stored. A later version may have stored names that this one does not know. */
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

/** The text to store for a setting. Only secrets are sealed. */
export function sealedText(secrets: Pick<SecretBox, 'seal'>, name: ChangeableName, text: string): string {
  return isSealed(name) ? secrets.seal(text, contextOf(name)) : text;
}

/** Stored texts that can be read, and the reasons why others cannot. */
export type OpenedTexts = {
  texts: Partial<Record<ChangeableName, string>>;
  unreadable: Partial<Record<ChangeableName, string>>;
};

/** Opens the sealed texts of the changeable settings. Names that this version does not know are left out. */
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

/** The picture ids of the stored logo and of the logo before the last change, because that change can be undone. */
export async function storedLogos(settings: Collection<StoredSettings>): Promise<string[]> {
  const projection = { 'texts.LOGO_PICTURE': 1, 'before.LOGO_PICTURE': 1 };
  const stored = await settings.findOne({ _id: SITE_SETTINGS }, { projection });
  const texts = [stored?.texts?.LOGO_PICTURE, stored?.before?.LOGO_PICTURE];
  return texts.flatMap((text) => text?.split(' ')[0] ?? []);
}
