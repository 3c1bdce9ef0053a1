import { type Config, loadConfig } from '../platform/config.ts';
import type { Environment } from './binary.ts';

/**
 * What a command must have in common with the platform whose data it works on. LEASE_MS is among them because
 * a configuration checks LISTENER_TIMEOUT_MS against it.
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

/** Shared settings as the environment's text, those that are set. */
type SharedSettings = Partial<Record<(typeof SHARED_SETTINGS)[number], string>>;

/** The shared settings of an environment; an empty value counts as absent. */
function settingsIn(env: Environment): SharedSettings {
  const settings: SharedSettings = {};
  for (const name of SHARED_SETTINGS) {
    const value = env[name];
    if (value) settings[name] = value;
  }
  return settings;
}

/** What the platform notes down for commands. Its address is told even where it follows from HOST and PORT. */
export function settingsToShare(config: Config, env: Environment): SharedSettings {
  return { ...settingsIn(env), PUBLIC_URL: config.PUBLIC_URL };
}

/**
 * A command's configuration with the running platform's settings where its own environment has none.
 *
 * @throws {ConfigError} when the two together are wrong
 */
export function withSharedSettings(config: Config, env: Environment, shared: SharedSettings): Config {
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
  };
}
