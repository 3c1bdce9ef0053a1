import { HOUR, MINUTE, SECOND } from '../../platform/clock.ts';
import { type Config, DEFAULTS, SETTINGS } from '../../platform/config.ts';
import type { Variables } from '../../platform/environment.ts';
import { shownValue } from '../../platform/masked.ts';
import type { WithSecretFiles } from '../../platform/secret-settings.ts';

/** A setting with its value as it may be shown; `value` is null if it is not set and has no default. */
export type Setting = {
  name: string;
  value: string | null;
  source: 'default' | 'environment' | '.env' | 'file' | 'stored';
  /** The file from which a secret was read. */
  file?: string;
};

/** Settings that only tests or older versions use. */
const NOT_FOR_OPERATORS = new Set([
  'CLOCK_OFFSET_MS',
  'DISCORD_API_URL',
  'OPERATOR_PASSWORD_HASH',
  'STEAM_OPENID_URL',
]);

/** All settings; secret values are masked. Settings of `NOT_FOR_OPERATORS` are listed only if they are set. */
export function listSettings(
  { variables, files }: WithSecretFiles,
  envFile: Variables,
  config: Config | null,
  stored: ReadonlyMap<string, string> = new Map(),
): Setting[] {
  const known = SETTINGS.filter((name) => variables[name] !== undefined || !NOT_FOR_OPERATORS.has(name));
  const onlyStored = [...stored.keys()].filter((name) => !SETTINGS.includes(name));
  return [...known, ...onlyStored].map((name) => {
    const value = variables[name];
    const file = files.get(name);
    const shown = value === undefined ? null : shownValue(name, value);
    if (file !== undefined) return { name, value: shown, source: 'file', file };
    const kept = stored.get(name);
    if (value === undefined && kept !== undefined) return { name, value: kept, source: 'stored' };
    if (value === undefined) return { name, value: defaultOf(name, config), source: 'default' };
    return { name, value: shown, source: envFile[name] === value ? '.env' : 'environment' };
  });
}

function defaultOf(name: string, config: Config | null): string | null {
  const value = name === 'PUBLIC_URL' ? config?.PUBLIC_URL : DEFAULTS[name];
  if (value === undefined || value === '') return null;
  if (!Array.isArray(value)) return String(value);
  return value.length === 0 ? null : value.map(duration).join(',');
}

/** A time as an operator writes it: `30s`, `2m`. */
function duration(ms: number): string {
  if (ms >= HOUR && ms % HOUR === 0) return `${ms / HOUR}h`;
  return ms >= MINUTE && ms % MINUTE === 0 ? `${ms / MINUTE}m` : `${ms / SECOND}s`;
}
