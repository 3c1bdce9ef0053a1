import type { Collection } from 'mongodb';
import { hostWarning } from '../platform/address-guard.ts';
import { AppError } from '../platform/app-error.ts';
import type { AuditAction } from '../platform/audit/audit-actions.ts';
import { type AuditEntry, recordAudit } from '../platform/audit/audit-log.ts';
import type { Clock } from '../platform/clock.ts';
import type { Config } from '../platform/config.ts';
import { InvalidDocumentError } from '../platform/document.ts';
import { hostOf } from '../platform/host-and-port.ts';
import type { SecretBox } from '../platform/secrets.ts';
import { settingValue } from '../platform/settings/definitions.ts';
import { type ChangeableName, isChangeable, isSealed } from './changeable.ts';
import type { LiveSettings } from './live-settings.ts';
import {
  mentions,
  SITE_SETTINGS,
  type StoredSettings,
  type StoredTexts,
  sealedText,
  usableValues,
} from './stored-settings.ts';

export type ChangeDeps = {
  config: Config;
  clock: Clock;
  secrets: SecretBox;
  settings: Collection<StoredSettings>;
  auditLog: Collection<AuditEntry>;
  liveSettings: Pick<LiveSettings, 'reload'>;
};

/** As environment variables would have them. null removes the text, so that the default applies. */
export type SettingChanges = Partial<Record<ChangeableName, string | null>>;

/** null: no text is stored. Secrets are `***`. */
export type Changed = Record<string, { before: string | null; after: string | null }>;

export class SettingsChangedError extends AppError {
  readonly names: ChangeableName[];

  constructor(names: ChangeableName[]) {
    super(`Somebody else changed ${names.join(', ')} meanwhile.`);
    this.names = names;
  }
}

/** A try fails if another change is stored at the same time. */
const TRIES = 5;

/** Null when none were ever changed. */
export function readStoredSettings({
  settings,
}: Pick<ChangeDeps, 'settings'>): Promise<StoredSettings | null> {
  return settings.findOne({ _id: SITE_SETTINGS });
}

/**
 * Every process uses them within 5 seconds; this one at once. The audit log has the texts before and after. `by`: the
 * e-mail address of the operator, or `cli`. `shown`: the revision of the settings that the operator's form showed.
 * Returns what changed; empty if nothing changed.
 *
 * @throws {InvalidDocumentError} with an error for each setting that is unusable or that the environment sets
 * @throws {SettingsChangedError} when somebody else changed one of the settings since `shown`, or when each of `TRIES`
 *   tries met another change
 */
export async function changeSettings(
  deps: ChangeDeps,
  changes: SettingChanges,
  by: string,
  shown = Number.POSITIVE_INFINITY,
): Promise<Changed> {
  checkEach(deps.config, changes);
  return store(deps, 'settings.change', by, (stored) => textsWith(deps, stored, changes, shown));
}

/** Throws what `changeSettings` would throw, and stores nothing: before a form spends a code of the second factor. */
export async function checkSettings(deps: ChangeDeps, changes: SettingChanges, shown: number): Promise<void> {
  checkEach(deps.config, changes);
  const stored = await readStoredSettings(deps);
  const texts = textsWith(deps, stored, changes, shown);
  checkTogether(deps, texts, differing(stored?.texts ?? {}, texts));
}

function textsWith(
  { secrets }: ChangeDeps,
  stored: StoredSettings | null,
  changes: SettingChanges,
  shown: number,
): StoredTexts {
  const before = stored?.texts ?? {};
  const texts = { ...before };
  const names = Object.keys(changes) as ChangeableName[];
  for (const name of names) {
    const text = changes[name] ?? null;
    if (text === null) delete texts[name];
    else texts[name] = sealedText(secrets, name, text);
  }
  refuseStale(
    stored,
    names.filter((name) => before[name] !== texts[name]),
    shown,
  );
  return texts;
}

/**
 * Undoes the last change, if it has the number `revision`. Returns what changed; empty if a later change was made.
 *
 * @throws {InvalidDocumentError} with an error for each setting whose earlier text is unusable by now
 * @throws {SettingsChangedError} when each of `TRIES` tries met another change
 */
export function undoSettings(deps: ChangeDeps, revision: number, by: string): Promise<Changed> {
  return store(deps, 'settings.undo', by, (stored) =>
    stored?.revision === revision ? stored.before : (stored?.texts ?? {}),
  );
}

async function store(
  deps: ChangeDeps,
  action: AuditAction,
  by: string,
  textsAfter: (stored: StoredSettings | null) => StoredTexts,
): Promise<Changed> {
  for (let attempt = 1; ; attempt++) {
    const stored = await readStoredSettings(deps);
    const before = stored?.texts ?? {};
    const texts = textsAfter(stored);
    const names = differing(before, texts);
    if (names.length === 0) return {};
    checkTogether(deps, texts, names);
    const revision = (stored?.revision ?? 0) + 1;
    const changedIn = { ...stored?.changedIn, ...Object.fromEntries(names.map((name) => [name, revision])) };
    const document = { texts, before, revision, changedIn, at: deps.clock.now(), by };
    if (await replaced(deps, stored, document)) {
      const changed = shownChanges(before, texts);
      await recordAudit(deps, { by, action, serverId: null, details: changed });
      await deps.liveSettings.reload();
      return changed;
    }
    if (attempt === TRIES) throw new SettingsChangedError(names.filter(isChangeable));
  }
}

/** @throws {SettingsChangedError} when one of the settings was changed after the revision `shown` */
function refuseStale(stored: StoredSettings | null, names: ChangeableName[], shown: number): void {
  const stale = names.filter((name) => (stored?.changedIn[name] ?? 0) > shown);
  if (stale.length > 0) throw new SettingsChangedError(stale);
}

/** Returns false if the document is no longer the one that was read. */
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

/** @throws {InvalidDocumentError} with an error for each setting that is fixed, or whose new text is unusable by itself */
function checkEach(config: Config, changes: SettingChanges): void {
  const fixed = (Object.keys(changes) as ChangeableName[]).filter((name) => config.given.has(name));
  if (fixed.length > 0) {
    const sentence = 'The environment gives this setting, so it cannot be changed here.';
    throw new InvalidDocumentError(Object.fromEntries(fixed.map((name) => [name, sentence])));
  }
  const errors: Record<string, string> = {};
  for (const [name, text] of Object.entries(changes) as [ChangeableName, string | null][]) {
    if (text === null) continue;
    const read = settingValue(name, text);
    const reason = 'reason' in read ? read.reason : refusedHost(config, name, text);
    if (reason !== null) errors[name] = asSentence(reason);
  }
  if (Object.keys(errors).length > 0) throw new InvalidDocumentError(errors);
}

/**
 * An error that names none of the changed settings is ignored, because this change did not cause it.
 *
 * @throws {InvalidDocumentError} with an error for each changed setting that is unusable or does not fit the others
 */
function checkTogether(deps: ChangeDeps, texts: StoredTexts, names: string[]): void {
  const { unusable, contradictions } = usableValues(deps, texts);
  const errors: Record<string, string> = {};
  for (const name of names) {
    const own = name in texts ? unusable[name as ChangeableName] : undefined;
    const reason = own ?? contradictions.find((error) => mentions(error, name));
    if (reason !== undefined)
      errors[name] = asSentence(reason.replace(new RegExp(`^${name}( \\(.*?\\))? `), ''));
  }
  if (Object.keys(errors).length > 0) throw new InvalidDocumentError(errors);
}

/**
 * Why Tallyport must not connect to the IP address in this URL; null if it may. A host name is checked at each
 * connection instead (design rule 11).
 */
function refusedHost(config: Config, name: ChangeableName, text: string): string | null {
  if (name !== 'SMTP_URL' && name !== 'OIDC_ISSUER') return null;
  const host = hostOf(new URL(text));
  const warning = hostWarning(host, config);
  return warning?.replace(/\.$/, '') ?? null;
}

function asSentence(reason: string): string {
  return `${reason.charAt(0).toUpperCase()}${reason.slice(1)}.`;
}

function differing(before: StoredTexts, after: StoredTexts): string[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return names.filter((name) => before[name] !== after[name]);
}

/** For the audit log and the admin area. Secrets are `***`. */
export function shownChanges(before: StoredTexts, after: StoredTexts): Changed {
  const entries = differing(before, after).map((name) => {
    const [from, to] = excerpts(shownText(name, before[name]), shownText(name, after[name]));
    return [name, { before: from, after: to }];
  });
  return Object.fromEntries(entries);
}

function shownText(name: string, text: string | undefined): string | null {
  if (text === undefined) return null;
  return isChangeable(name) && !isSealed(name) ? text : '***';
}

/** In characters; `before`: how much of a longer text precedes the difference. */
const EXCERPT = { most: 1_000, before: 40 };

/** If a text is too long, such as a page: only a part of each, which begins just before the first difference. */
function excerpts(one: string | null, other: string | null): [string | null, string | null] {
  const texts = [one ?? '', other ?? ''] as const;
  if (Math.max(...texts.map(({ length }) => length)) <= EXCERPT.most) return [one, other];
  let same = 0;
  while (same < texts[0].length && texts[0][same] === texts[1][same]) same++;
  const from = Math.max(0, same - EXCERPT.before);
  const cut = (text: string | null) =>
    text === null
      ? null
      : `${from > 0 ? '…' : ''}${text.slice(from, from + EXCERPT.most)}${text.length > from + EXCERPT.most ? '…' : ''}`;
  return [cut(one), cut(other)];
}
