import { isIPv6 } from 'node:net';
import type { z } from 'zod';
import { ConfigError, ownEnvironment, type Variables } from './environment.ts';
import { readSecretFiles, type WithSecretFiles } from './secret-settings.ts';
import { errorsTogether } from './settings/contradictions.ts';
import { DEFINED, environment, SECRETS, type SettingValues } from './settings/definitions.ts';

/** The configuration of a process. Times are in milliseconds. */
export type Config = Omit<SettingValues, 'PUBLIC_URL' | 'MONGODB_URI' | 'REDIS_URL' | 'SECRET_KEY'> & {
  /** The address that users and plugins use, without a final slash; may contain a path. */
  PUBLIC_URL: string;
  /** The path of `PUBLIC_URL`, the prefix of every page and endpoint: `''` or `/listing`. */
  basePath: string;
  /** If absent, a mongod of our own is found or started (see own-services/). */
  MONGODB_URI: string | undefined;
  REDIS_URL: string | undefined;
  /** If absent, one is made and stored in `DATA_DIR`. */
  SECRET_KEY: string | undefined;
  /** The names of the settings that the environment gives. Stored settings do not replace them. */
  given: ReadonlySet<string>;
};

export type ConnectedConfig = Config & { MONGODB_URI: string; REDIS_URL: string; SECRET_KEY: string };

/** By the variable's name. The value of a secret is not shown. */
function valueErrors({ issues }: z.ZodError, { variables, files }: WithSecretFiles): Map<string, string> {
  const errors = new Map<string, string>();
  for (const { path, message } of issues) {
    const name = String(path[0]);
    if (errors.has(name)) continue;
    const file = files.get(name);
    const value = SECRETS.has(name) ? '' : ` (“${variables[name]}”)`;
    const shown = file === undefined ? value : ` (in “${file}”)`;
    // A message about one item of a list already names the item.
    errors.set(name, message.startsWith('“') ? `${name}: ${message}` : `${name}${shown} ${message}`);
  }
  return errors;
}

function hostInUrl(host: string): string {
  if (host === '127.0.0.1') return 'localhost';
  return isIPv6(host) ? `[${host.replace(/%.*$/, '')}]` : host;
}

/** @throws {ConfigError} with one readable line for each wrong variable. An empty value counts as absent */
export function loadConfig(env: Variables = ownEnvironment()): Config {
  const given = readSecretFiles(env);
  const parsed = environment.safeParse(given.variables);
  const wrongValues = parsed.success ? new Map<string, string>() : valueErrors(parsed.error, given);
  const right = Object.entries(given.variables).filter(([name]) => !wrongValues.has(name));
  const crossErrors = errorsTogether(parsed.data ?? environment.parse(Object.fromEntries(right)));
  // If a variable is wrong or unreadable: errors about its combination with others are not reported.
  const unusable = [...wrongValues.keys(), ...given.unread];
  const errors = [
    ...given.errors,
    ...wrongValues.values(),
    ...crossErrors.filter((error) => !unusable.some((name) => error.includes(name))),
  ];
  if (!parsed.success || errors.length > 0) throw new ConfigError(errors);

  const { PUBLIC_URL, MONGODB_URI, REDIS_URL, SECRET_KEY, ...rest } = parsed.data;
  const address = PUBLIC_URL ?? `http://${hostInUrl(rest.HOST)}:${rest.PORT}`;
  return {
    ...rest,
    PUBLIC_URL: address,
    basePath: new URL(address).pathname.replace(/\/+$/, ''),
    MONGODB_URI,
    REDIS_URL,
    SECRET_KEY,
    given: givenBy(given.variables),
  };
}

/** The settings that the environment sets, including those for which it names a folder or a file. */
function givenBy(variables: Record<string, string>): Set<string> {
  const instead = DEFINED.filter(([, { variable }]) => variable && variables[variable] !== undefined);
  return new Set([...Object.keys(variables), ...instead.map(([name]) => name)]);
}
