import { isDeepStrictEqual } from 'node:util';
import type { Collection } from 'mongodb';
import { MINUTE, SECOND } from '../platform/clock.ts';
import type { ConnectedConfig } from '../platform/config.ts';
import { within } from '../platform/deadline.ts';
import type { Logger } from '../platform/log.ts';
import { retry } from '../platform/retry.ts';
import type { SecretBox } from '../platform/secrets.ts';
import { throwUnlessTransient } from '../platform/transient-errors.ts';
import { CHANGEABLE_NAMES, type ChangeableName } from './changeable.ts';
import { SITE_SETTINGS, type StoredSettings, unstoredValues, usableValues } from './stored-settings.ts';

/** Within this time every process uses a change, so the pages promise. */
export const CHANGES_APPLY_SECONDS = 5;
/** How often each process reads the stored settings. A page is cached for 3 s more, and the read takes time too. */
const READ_EVERY_MS = (CHANGES_APPLY_SECONDS - 3.5) * SECOND;
/** A read that takes longer is given up; the timer starts the next one. */
const READ_LIMIT_MS = SECOND;

/**
 * If the stored value is unusable at the start: 0, “for ever”. With the default of `KEEP_ADDRESSES_MONTHS`, the process
 * could delete data that the stored value keeps.
 */
const AT_START: Partial<Record<ChangeableName, unknown>> = {
  KEEP_PLAYER_NAMES_MONTHS: 0,
  KEEP_ADDRESSES_MONTHS: 0,
};

export type LiveSettings = {
  /** If the read fails, the values stay as they are. */
  reload(): Promise<void>;
  close(): void;
};

type Parts = {
  config: ConnectedConfig;
  settings: Collection<StoredSettings>;
  secrets: SecretBox;
  log: Logger;
};

/**
 * Keeps `config` up to date with the stored settings, so code must read its properties when it needs them. The
 * environment wins over the stored value, which wins over the default. If a stored value is unusable, such as one of a
 * later version, the last good value stays and a line is logged. While MongoDB does not answer, all values stay.
 *
 * @param timeoutMs - how long the first read is retried while MongoDB does not answer
 * @throws the driver's error if the first read fails: with other values, a process might delete what the stored ones
 *   keep
 */
export async function openLiveSettings(parts: Parts, timeoutMs = MINUTE): Promise<LiveSettings> {
  const { config, settings, log } = parts;
  let known: string | undefined;

  function use(stored: StoredSettings | null): void {
    const { values, unusable } = usableValues(parts, stored?.texts ?? {});
    const names = Object.keys(unusable) as ChangeableName[];
    const isStart = known === undefined;
    const lastGood = names.map((name) => [name, (isStart ? AT_START[name] : undefined) ?? config[name]]);
    const next: Partial<ConnectedConfig> = {
      ...unstoredValues(config),
      ...Object.fromEntries(lastGood),
      ...values,
    };
    const changed = CHANGEABLE_NAMES.filter((name) => !isDeepStrictEqual(config[name], next[name]));
    Object.assign(config, next);
    known = versionOf(stored);
    // Only names are logged, because a value may be a secret.
    if (stored) log.info({ event: 'settings.read', revision: stored.revision, changed });
    for (const name of names) {
      const reason = unusable[name];
      log.warn(
        { event: 'settings.unusable', name, reason },
        `the stored setting ${name} is not used: ${reason}`,
      );
    }
  }

  /** The texts include whole pages, so they are read only if their version has changed. */
  async function read(): Promise<void> {
    const projection = { revision: 1, at: 1 };
    const version = versionOf(await settings.findOne({ _id: SITE_SETTINGS }, { projection }));
    if (version !== known) use(await settings.findOne({ _id: SITE_SETTINGS }));
  }

  const firstReadUntil = performance.now() + timeoutMs;
  await retry(read, {
    deadline: () => firstReadUntil,
    onError(error) {
      throwUnlessTransient(error);
      log.warn({ event: 'mongodb.waiting', reason: String(error) }, 'MongoDB does not answer yet');
    },
  });
  const reload = () =>
    within(READ_LIMIT_MS, read()).catch((error: unknown) => {
      log.debug({ event: 'settings.not_read', reason: String(error) });
    });
  const timer = setInterval(reload, READ_EVERY_MS);
  timer.unref();
  return { reload, close: () => clearInterval(timer) };
}

function versionOf(stored: Pick<StoredSettings, 'revision' | 'at'> | null): string {
  return stored ? `${stored.revision} ${stored.at.getTime()}` : '';
}
