import { z } from 'zod';
import { HOUR, MINUTE, SECOND } from '../clock.ts';
import { connectionSettings, voteSettings } from './limit-settings.ts';
import { databaseSettings, processSettings } from './process-settings.ts';
import type { Section, Setting } from './setting.ts';
import {
  discordSettings,
  mailSettings,
  openIdSettings,
  operatorSettings,
  steamSettings,
} from './sign-in-settings.ts';
import { siteSettings } from './site-settings.ts';
import { traceSettings } from './trace-settings.ts';
import { deliverySettings, workerSettings } from './worker-settings.ts';

/** Every setting, in the order in which settings are listed. All else that is known of settings follows from this. */
export const DEFINITIONS = {
  ...processSettings,
  ...databaseSettings,
  ...connectionSettings,
  ...voteSettings,
  ...siteSettings,
  ...operatorSettings,
  ...mailSettings,
  ...discordSettings,
  ...openIdSettings,
  ...steamSettings,
  ...workerSettings,
  ...deliverySettings,
  ...traceSettings,
};

type Definitions = typeof DEFINITIONS;

export type SettingName = keyof Definitions;

export type SettingValues = z.infer<z.ZodObject<{ [Name in SettingName]: Definitions[Name]['schema'] }>>;

type FieldGroupOf<Definition> = Definition extends { field?: { group: infer Group } } ? Group : never;

/** The settings that operators may change while processes run. */
export type ChangeableName = {
  [Name in SettingName]: [FieldGroupOf<Definitions[Name]>] extends [never] ? never : Name;
}[SettingName];

export type SettingGroup = FieldGroupOf<Definitions[SettingName]>;

export const DEFINED = Object.entries(DEFINITIONS) as [SettingName, Setting & { section: Section }][];

/** The settings that may be environment variables, of processes and of tests. */
const variables = DEFINED.filter(([, { variable }]) => variable === undefined);

export const SETTINGS: readonly string[] = variables.map(([name]) => name);

/** The settings of the environment that operators may need; the others are for tests, or of older versions. */
export const FOR_OPERATORS: ReadonlySet<string> = new Set(
  variables.flatMap(([name, { onlyForTests, former }]) => (onlyForTests || former ? [] : [name])),
);

export const environment = z.object(
  Object.fromEntries(variables.map(([name, { schema }]) => [name, schema])),
) as unknown as z.ZodType<SettingValues>;

export const DEFAULTS = environment.parse({}) as SettingValues & Readonly<Record<string, unknown>>;

/** Secret settings. The variable `NAME_FILE` may name a file with the value: Docker mounts secrets as files. */
export const SECRETS_IN_FILES: readonly string[] = DEFINED.flatMap(([name, { secret, former }]) =>
  secret && !former ? [name] : [],
);

export const SECRETS: ReadonlySet<string> = new Set(
  DEFINED.flatMap(([name, { secret }]) => (secret ? [name] : [])),
);

export function variableOf(name: SettingName): string {
  return (DEFINITIONS[name] as Setting).variable ?? name;
}

/** `reason` may quote one item of a list, but nothing else of `text`. */
export function settingValue(name: SettingName, text: string): { value: unknown } | { reason: string } {
  const parsed = DEFINITIONS[name].schema.safeParse(text);
  return parsed.success
    ? { value: parsed.data }
    : { reason: parsed.error.issues[0]?.message ?? 'is not usable' };
}

/** As an operator writes it, such as `5s,30s,2m`; null if there is none. */
export function defaultText(name: string): string | null {
  const value = DEFAULTS[name];
  if (value === undefined || value === '') return null;
  if (!Array.isArray(value)) return String(value);
  return value.length === 0 ? null : value.map(duration).join(',');
}

function duration(ms: number): string {
  if (ms >= HOUR && ms % HOUR === 0) return `${ms / HOUR}h`;
  return ms >= MINUTE && ms % MINUTE === 0 ? `${ms / MINUTE}m` : `${ms / SECOND}s`;
}
