import type { Collection } from 'mongodb';
import { SECOND } from '../platform/clock.ts';
import { ConfigError, type ConnectedConfig, settingValues } from '../platform/config.ts';
import { within } from '../platform/deadline.ts';
import type { Logger } from '../platform/log.ts';
import { CHANGEABLE_NAMES, type ChangeableName, changeableTexts } from './changeable.ts';
import { SITE_SETTINGS, type StoredSettings } from './stored-settings.ts';

/** How often each process reads the stored settings. A page is cached for 3 s more, so a change is seen within 5 s. */
const READ_EVERY_MS = 1.5 * SECOND;
/** A read that takes longer is given up; the next one follows. */
const READ_LIMIT_MS = SECOND;

/** The settings of a process, which follow those in the database. */
export type LiveSettings = {
  /** Reads the stored settings now. If that fails, the values stay as they are. */
  reload(): Promise<void>;
  /** Stops reading. */
  close(): void;
};

/**
 * Keeps `config` up to date with the stored settings: its properties change while the process runs, so code must read
 * them when it needs them. The value of the environment wins over the stored one, which wins over the default. If a
 * stored value is unusable, such as one of a later version, the last good values stay and a line is logged.
 */
export function createLiveSettings(
  config: ConnectedConfig,
  settings: Collection<StoredSettings>,
  log: Logger,
): LiveSettings {
  const started = Object.fromEntries(CHANGEABLE_NAMES.map((name) => [name, config[name]]));
  let known = 0;

  async function reload(): Promise<void> {
    try {
      const stored = await within(READ_LIMIT_MS, settings.findOne({ _id: SITE_SETTINGS }));
      const revision = stored?.revision ?? 0;
      if (revision === known) return;
      known = revision;
      Object.assign(config, { ...started, ...settingValues(config, notGiven(config, stored?.texts ?? {})) });
      log.info({ event: 'settings.changed', revision });
    } catch (error) {
      const event = error instanceof ConfigError ? 'settings.unusable' : 'settings.not_read';
      log[error instanceof ConfigError ? 'warn' : 'debug']({ event, reason: String(error) });
    }
  }

  const timer = setInterval(reload, READ_EVERY_MS);
  timer.unref();
  return { reload, close: () => clearInterval(timer) };
}

/** The stored texts of the settings that the environment does not give. */
export function notGiven(
  { given }: Pick<ConnectedConfig, 'given'>,
  texts: Record<string, string>,
): Partial<Record<ChangeableName, string>> {
  const entries = Object.entries(changeableTexts(texts)).filter(([name]) => !given.has(name));
  return Object.fromEntries(entries);
}
