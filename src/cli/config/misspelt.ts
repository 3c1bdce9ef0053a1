import { editDistance } from '../../platform/edit-distance.ts';
import { SECRETS_IN_FILES, SETTINGS } from '../../platform/settings/definitions.ts';
import { COMPOSE_VARIABLES } from './compose-variables.ts';

/** Further variables that docker-compose.yml, Node or Tallyport's tools read. They are not settings of a process. */
const OTHERS = [
  ...Object.keys(COMPOSE_VARIABLES),
  'CADDY_IMAGE',
  'CHROMIUM',
  'MONGOMS_SYSTEM_BINARY',
  'PUBLISH_HTTP',
  'PUBLISH_HTTPS',
  'SITE_HOST',
  'UV_THREADPOOL_SIZE',
  'XDG_CACHE_HOME',
];
const KNOWN = [...SETTINGS, ...SECRETS_IN_FILES.map((name) => `${name}_FILE`)];
const EXPECTED = new Set([...KNOWN, ...OTHERS]);

/** A variable counts as a misspelt setting if at most one letter in four is wrong, and at most this many in all. */
const MOST_WRONG = 2;

/**
 * A line for each variable that looks like a misspelt setting, or like a file for a setting that is not a secret. Other
 * unknown variables are ignored: they belong to other programs.
 */
export function misspeltVariables(variables: Record<string, string>): string[] {
  return Object.keys(variables)
    .filter((name) => !EXPECTED.has(name))
    .flatMap((name) => {
      const setting = name.endsWith('_FILE') ? name.slice(0, -'_FILE'.length) : '';
      if (SETTINGS.includes(setting))
        return [`The variable ${name} is not read: only secrets can be in a file`];
      const meant = nearest(name);
      return meant ? [`The variable ${name} is not a setting: did you mean ${meant}?`] : [];
    });
}

function nearest(name: string): string | null {
  const upper = name.toUpperCase().replaceAll('-', '_');
  let least = Math.min(MOST_WRONG, Math.floor(name.length / 4)) + 1;
  let found: string | null = null;
  for (const known of KNOWN) {
    if (Math.abs(known.length - upper.length) >= least) continue;
    const distance = editDistance(upper, known);
    if (distance < least) [least, found] = [distance, known];
  }
  return found;
}
