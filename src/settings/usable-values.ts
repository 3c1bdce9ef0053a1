import type { Config } from '../platform/config.ts';
import type { SecretBox } from '../platform/secrets.ts';
import { errorsTogether } from '../platform/settings/contradictions.ts';
import { DEFAULTS, settingValue } from '../platform/settings/definitions.ts';
import { CHANGEABLE_NAMES, type ChangeableName } from './changeable.ts';
import { openTexts, type StoredTexts } from './stored-settings.ts';

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
