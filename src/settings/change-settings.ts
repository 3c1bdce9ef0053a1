import type { Collection } from 'mongodb';
import { type AuditEntry, recordAudit } from '../platform/audit/audit-log.ts';
import type { Clock } from '../platform/clock.ts';
import { type Config, ConfigError, settingValues } from '../platform/config.ts';
import { InvalidDocumentError } from '../platform/document.ts';
import type { ChangeableName } from './changeable.ts';
import { type LiveSettings, notGiven } from './live-settings.ts';
import { SITE_SETTINGS, type StoredSettings } from './stored-settings.ts';

type ChangeDeps = {
  config: Config;
  clock: Clock;
  settings: Collection<StoredSettings>;
  auditLog: Collection<AuditEntry>;
  liveSettings: Pick<LiveSettings, 'reload'>;
};

/** New texts by name; null removes what is stored, so that the default holds again. */
export type SettingChanges = Partial<Record<ChangeableName, string | null>>;

/** What a change did to each setting that it changed, as texts; null: not stored. */
export type Changed = Record<string, { before: string | null; after: string | null }>;

/** Somebody else changed the settings at the same time. */
const TRIES = 3;

/** The stored settings; null when none were ever changed. */
export function readStoredSettings({
  settings,
}: Pick<ChangeDeps, 'settings'>): Promise<StoredSettings | null> {
  return settings.findOne({ _id: SITE_SETTINGS });
}

/**
 * Stores settings. Every process uses them within 5 seconds; this one at once. The audit log has the texts before and
 * after.
 *
 * @returns what changed, empty if nothing did
 * @throws {InvalidDocumentError} by setting: for a value that no process would start with, or one of the environment
 */
export async function changeSettings(
  deps: ChangeDeps,
  changes: SettingChanges,
  by: string,
): Promise<Changed> {
  const fixed = Object.keys(changes).filter((name) => deps.config.given.has(name));
  if (fixed.length > 0) {
    const sentence = 'The environment gives this setting, so it cannot be changed here.';
    throw new InvalidDocumentError(Object.fromEntries(fixed.map((name) => [name, sentence])));
  }
  return store(deps, 'settings.change', by, (stored) => {
    const texts = { ...stored?.texts };
    for (const [name, text] of Object.entries(changes)) {
      if (text === null) delete texts[name];
      else texts[name] = text;
    }
    return texts;
  });
}

/**
 * Stores the settings again as they were before the change with number `revision`.
 *
 * @returns what changed; empty if a later change was made
 * @throws {InvalidDocumentError} as `changeSettings`
 */
export function undoSettings(deps: ChangeDeps, revision: number, by: string): Promise<Changed> {
  return store(deps, 'settings.undo', by, (stored) =>
    stored?.revision === revision ? stored.before : (stored?.texts ?? {}),
  );
}

async function store(
  deps: ChangeDeps,
  action: string,
  by: string,
  textsAfter: (stored: StoredSettings | null) => Record<string, string>,
): Promise<Changed> {
  for (let attempt = 1; ; attempt++) {
    const stored = await readStoredSettings(deps);
    const before = stored?.texts ?? {};
    const texts = textsAfter(stored);
    checkTexts(deps.config, texts);
    const changed = difference(before, texts);
    if (Object.keys(changed).length === 0) return changed;
    const revision = (stored?.revision ?? 0) + 1;
    const document = { texts, before, revision, at: deps.clock.now(), by };
    if (await replaced(deps, stored, document)) {
      await recordAudit(deps, { by, action, serverId: null, details: changed });
      await deps.liveSettings.reload();
      return changed;
    }
    if (attempt === TRIES)
      throw new InvalidDocumentError({ form: 'Somebody else is changing the settings.' });
  }
}

/** Replaces the document if it is still the one that was read. */
async function replaced(
  { settings }: ChangeDeps,
  stored: StoredSettings | null,
  document: Omit<StoredSettings, '_id'>,
): Promise<boolean> {
  if (stored) {
    const filter = { _id: SITE_SETTINGS, revision: stored.revision };
    return (await settings.replaceOne(filter, document)).modifiedCount === 1;
  }
  const { upsertedCount } = await settings.updateOne(
    { _id: SITE_SETTINGS },
    { $setOnInsert: document },
    { upsert: true },
  );
  return upsertedCount === 1;
}

/** @throws {InvalidDocumentError} by setting, with the reasons of the start */
function checkTexts(config: Config, texts: Record<string, string>): void {
  try {
    settingValues(config, notGiven(config, texts));
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    throw new InvalidDocumentError(Object.fromEntries(error.errors.map(fieldAndSentence)));
  }
}

/** The setting that an error of the configuration is about, and the error as a sentence. */
function fieldAndSentence(error: string): [string, string] {
  const [name = 'form'] = /^[A-Z_]+/.exec(error) ?? [];
  const reason = error.slice(name.length).replace(/^( \(“.*?”\)|:)? /s, '');
  return [name, `${reason.charAt(0).toUpperCase()}${reason.slice(1)}.`];
}

function difference(before: Record<string, string>, after: Record<string, string>): Changed {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return Object.fromEntries(
    names
      .filter((name) => before[name] !== after[name])
      .map((name) => [name, { before: before[name] ?? null, after: after[name] ?? null }]),
  );
}
