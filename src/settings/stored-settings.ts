import type { Collection } from 'mongodb';
import { type InferRawDocType, Schema } from 'mongoose';
import type { Config } from '../platform/config.ts';
import { type SecretBox, UnsealError } from '../platform/secrets.ts';
import { errorsTogether } from '../platform/settings/contradictions.ts';
import { DEFAULTS, settingValue } from '../platform/settings/definitions.ts';
import { CHANGEABLE_NAMES, type ChangeableName, isChangeable, isSealed } from './changeable.ts';

const storedSettingsDefinition = {
  _id: { type: String, required: true },
  /** By name, each as an environment variable would have it; secrets are sealed. */
  texts: { type: Object, required: true },
  revision: { type: Number, required: true },
  /** The revision of the last change of each setting. */
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

/** The result includes the logo before the last change, because that change can be undone. */
export async function storedLogos(settings: Collection<StoredSettings>): Promise<string[]> {
  const projection = { 'texts.LOGO_PICTURE': 1, 'before.LOGO_PICTURE': 1 };
  const stored = await settings.findOne({ _id: SITE_SETTINGS }, { projection });
  const texts = [stored?.texts?.LOGO_PICTURE, stored?.before?.LOGO_PICTURE];
  return texts.flatMap((text) => text?.split(' ')[0] ?? []);
}

/** `unusable`: the reasons, by name. */
export type UsableValues = {
  values: Partial<Config>;
  unusable: Partial<Record<ChangeableName, string>>;
  /** Values that do not fit together, in lines. The settings that they name are unusable. */
  contradictions: string[];
};

/** Those of the environment, else the defaults. */
export function unstoredValues(config: Config): Partial<Config> {
  const unstored = (name: ChangeableName) => (config.given.has(name) ? config[name] : DEFAULTS[name]);
  return Object.fromEntries(CHANGEABLE_NAMES.map((name) => [name, unstored(name)]));
}

/**
 * Of settings that the environment does not set. An unusable value does not affect the others, except those that must
 * be set together with it. Stored values in `config` are not used.
 */
export function usableValues(
  { config, secrets }: { config: Config; secrets: Pick<SecretBox, 'open'> },
  stored: StoredTexts,
): UsableValues {
  const { texts, unreadable } = openTexts(secrets, stored);
  const values: Record<string, unknown> = {};
  const unusable: UsableValues['unusable'] = {};
  const isGiven = ([name]: [ChangeableName, string]) => config.given.has(name);
  for (const [name, reason] of entriesOf(unreadable)) if (!isGiven([name, reason])) unusable[name] = reason;
  for (const [name, text] of entriesOf(texts)) {
    if (isGiven([name, text])) continue;
    const read = settingValue(name, text);
    if ('value' in read) values[name] = read.value;
    else unusable[name] = read.reason;
  }
  const contradictions = errorsTogether({ ...config, ...unstoredValues(config), ...values } as Config);
  for (const name of Object.keys(values) as ChangeableName[]) {
    const error = contradictions.find((line) => mentions(line, name));
    if (error === undefined) continue;
    unusable[name] = error;
    delete values[name];
  }
  return { values, unusable, contradictions };
}

export function mentions(error: string, name: string): boolean {
  return new RegExp(`\\b${name}\\b`).test(error);
}

function entriesOf(texts: Partial<Record<ChangeableName, string>>): [ChangeableName, string][] {
  return Object.entries(texts) as [ChangeableName, string][];
}
