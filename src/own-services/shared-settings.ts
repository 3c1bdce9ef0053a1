import { type Config, loadConfig } from '../platform/config.ts';
import type { Variables } from '../platform/environment.ts';

/**
 * Settings that a command must have in common with the platform whose data it uses. LEASE_MS is one of them, because
 * LISTENER_TIMEOUT_MS is checked against it.
 */
export const SHARED_SETTINGS = [
  'PUBLIC_URL',
  'ALLOWED_PRIVATE_RANGES',
  'REFUSED_RANGES',
  'SERVICE_NAME',
  'QUEUE_PREFIX',
  'LISTENER_TIMEOUT_MS',
  'LEASE_MS',
] as const;

type SharedSettings = Partial<Record<(typeof SHARED_SETTINGS)[number], string>>;

/** The shared settings in an environment. An empty value counts as not set. */
function settingsIn(env: Variables): SharedSettings {
  return Object.fromEntries(SHARED_SETTINGS.flatMap((name) => (env[name] ? [[name, env[name]]] : [])));
}

/** What the platform records for commands: always PUBLIC_URL, even if it is not set. */
export function settingsToShare(config: Config, env: Variables): SharedSettings {
  return { ...settingsIn(env), PUBLIC_URL: config.PUBLIC_URL };
}

/** @throws {ConfigError} when the settings of the command and of the platform do not fit together */
export function withSharedSettings(config: Config, env: Variables, shared: SharedSettings): Config {
  const merged = loadConfig({ ...shared, ...settingsIn(env) });
  const { PUBLIC_URL, basePath, ALLOWED_PRIVATE_RANGES, REFUSED_RANGES, SERVICE_NAME, QUEUE_PREFIX } = merged;
  const { LISTENER_TIMEOUT_MS, LEASE_MS } = merged;
  return {
    ...config,
    PUBLIC_URL,
    basePath,
    ALLOWED_PRIVATE_RANGES,
    REFUSED_RANGES,
    SERVICE_NAME,
    QUEUE_PREFIX,
    LISTENER_TIMEOUT_MS,
    LEASE_MS,
    given: new Set([...config.given, ...merged.given]),
  };
}
