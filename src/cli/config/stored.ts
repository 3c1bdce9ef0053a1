import { bindCollections } from '../../database/collections.ts';
import type { Config } from '../../platform/config.ts';
import { createLogger } from '../../platform/log.ts';
import { shownValue } from '../../platform/masked.ts';
import { openMongo } from '../../platform/mongo.ts';
import { createSecretBox, type SecretBox } from '../../platform/secrets.ts';
import { readStoredSettings } from '../../settings/change-settings.ts';
import { openTexts, type StoredTexts, usableValues } from '../../settings/stored-settings.ts';

/** The settings that are stored in the database, as they may be shown. */
export type StoredReport = {
  /** The values that processes use, by name; secret values are masked. */
  texts: ReadonlyMap<string, string>;
  /** A line for each stored setting that no process can use. */
  warnings: string[];
  /** The configuration with the stored values. */
  config: Config;
  /** The stored secrets, decrypted. Everything that is printed must hide them. */
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

/** The text of a setting as it may be shown. If the setting contains a page (`PAGE_…`), only its length is shown. */
function shownText(name: string, text: string): string {
  return name.startsWith('PAGE_') ? `${text.length} characters` : shownValue(name, text);
}
