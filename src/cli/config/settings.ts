import type { Config } from '../../platform/config.ts';
import type { Variables } from '../../platform/environment.ts';
import { shownValue } from '../../platform/masked.ts';
import type { WithSecretFiles } from '../../platform/secret-settings.ts';
import { defaultText, FOR_OPERATORS, SETTINGS } from '../../platform/settings/definitions.ts';

/** A setting with its value as it may be shown; `value` is null if it is not set and has no default. */
export type ShownSetting = {
  name: string;
  value: string | null;
  source: 'default' | 'environment' | '.env' | 'file' | 'stored';
  /** The file from which a secret was read. */
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
