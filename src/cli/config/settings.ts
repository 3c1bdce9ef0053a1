import { bindCollections } from '../../database/collections.ts';
import type { Config } from '../../platform/config.ts';
import type { Variables } from '../../platform/environment.ts';
import { createLogger } from '../../platform/log.ts';
import { shownValue } from '../../platform/masked.ts';
import { openMongo } from '../../platform/mongo.ts';
import type { WithSecretFiles } from '../../platform/secret-settings.ts';
import { createSecretBox, type SecretBox } from '../../platform/secrets.ts';
import { defaultText, FOR_OPERATORS, SETTINGS } from '../../platform/settings/definitions.ts';
import { readStoredSettings } from '../../settings/change-settings.ts';
import { openTexts, type StoredTexts, usableValues } from '../../settings/stored-settings.ts';

/** A setting with its value as it may be shown; `value` is null if it is not set and has no default. */
export type ShownSetting = {
  name: string;
  value: string | null;
  source: 'default' | 'environment' | '.env' | 'file' | 'stored';
  file?: string;
};

/** All settings; secret values are masked. Those that only tests or older versions use are listed if they are set. */
export function listSettings(
  { variables, files }: WithSecretFiles,
  envFile: Variables,
  config: Config | null,
  stored: ReadonlyMap<string, string> = new Map(),
): ShownSetting[] {
  const known = SETTINGS.filter((name) => variables[name] !== undefined || FOR_OPERATORS.has(name));
  const onlyStored = [...stored.keys()].filter((name) => !SETTINGS.includes(name));
  return [...known, ...onlyStored].map((name) => {
    const value = variables[name];
    const file = files.get(name);
    const shown = value === undefined ? null : shownValue(name, value);
    if (file !== undefined) return { name, value: shown, source: 'file', file };
    const kept = stored.get(name);
    if (value === undefined && kept !== undefined) return { name, value: kept, source: 'stored' };
    if (value === undefined)
      return {
        name,
        value: name === 'PUBLIC_URL' ? (config?.PUBLIC_URL ?? null) : defaultText(name),
        source: 'default',
      };
    return { name, value: shown, source: envFile[name] === value ? '.env' : 'environment' };
  });
}

type StoredReport = {
  /** The values that processes use, by name; secret values are masked. */
  texts: ReadonlyMap<string, string>;
  warnings: string[];
  config: Config;
  secrets: string[];
};

/** Reads the stored settings; null without MONGODB_URI or SECRET_KEY, or if they cannot be read at the first try. */
export async function readStored(config: Config): Promise<StoredReport | null> {
  const { MONGODB_URI, SECRET_KEY, SECRET_KEY_PREVIOUS } = config;
  if (!MONGODB_URI || !SECRET_KEY) return null;
  const log = createLogger({ LOG_LEVEL: 'silent' }, 'cli');
  try {
    const mongo = await openMongo(MONGODB_URI, log, { timeoutMs: 0 });
    try {
      const stored = await readStoredSettings(bindCollections(mongo));
      return reportOf(config, createSecretBox(SECRET_KEY, SECRET_KEY_PREVIOUS), stored?.texts ?? {});
    } finally {
      await mongo.close();
    }
  } catch {
    // Returns null without a reason: the check of MongoDB reports why it does not answer.
    return null;
  }
}

function reportOf(config: Config, box: SecretBox, stored: StoredTexts): StoredReport {
  const { texts } = openTexts(box, stored);
  const { values, unusable } = usableValues({ config, secrets: box }, stored);
  const used = Object.entries(texts).filter(([name]) => Object.hasOwn(values, name));
  return {
    texts: new Map(used.map(([name, text]) => [name, shownText(name, text)])),
    warnings: Object.entries(unusable).map(([name, reason]) => `The stored ${name} is not used: ${reason}`),
    config: { ...config, ...values },
    secrets: Object.entries(texts).flatMap(([name, text]) => (stored[name] === text ? [] : [text])),
  };
}

function shownText(name: string, text: string): string {
  return name.startsWith('PAGE_') ? `${text.length} characters` : shownValue(name, text);
}
