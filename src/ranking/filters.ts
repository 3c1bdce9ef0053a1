import { statusAt } from '../history/current-status.ts';
import type { Server } from '../servers/server.ts';

/** What a list of servers is narrowed down to; what is absent is not asked for. */
export type Filters = {
  /** gamedig's id. */
  game?: string | undefined;
  /** ISO 3166, two capitals. */
  country?: string | undefined;
  online?: boolean | undefined;
  /** A release: `1.21`. */
  version?: string | undefined;
};

/** What of a server decides which filters it passes. */
export type Filtered = Pick<Server, 'game' | 'countryCode' | 'probe' | 'lastReport'> & {
  current: Pick<Server['current'], 'version'>;
};

/** Of a server's document. */
export const FILTERED = {
  game: 1,
  countryCode: 1,
  'current.version': 1,
  'probe.status': 1,
  'probe.checkedAt': 1,
  'probe.succeededAt': 1,
  'probe.intervalSeconds': 1,
  'lastReport.at': 1,
} as const;

/** More releases than one server plausibly runs are not looked at. */
const MOST_VERSIONS = 30;

const RELEASE = /(?<![\d.])(\d{1,3})\.(\d{1,3})(?!\d)/g;
/** Between two releases it means all of them: `1.8.x-1.21`, `1.20 – 1.21`, `1.8 to 1.20`. */
const TO = /^[.x\d]*\s*(?:-|–|—|to)\s*$/i;

/**
 * The releases (`1.21`) that a server's own words name: `Paper 1.21.4`, `1.20.x – 1.21`, `Requires MC 1.8 / 1.21`.
 * A range of one major number names those between too.
 */
export function versionsOf(text: string): string[] {
  const found = new Set<string>();
  let before: { major: number; minor: number; end: number } | undefined;
  for (const match of text.matchAll(RELEASE)) {
    const [major, minor] = [Number(match[1]), Number(match[2])];
    const isRange = before?.major === major && TO.test(text.slice(before.end, match.index));
    const from = isRange && before && minor - before.minor < MOST_VERSIONS ? before.minor : minor;
    for (let one = Math.min(from, minor); one <= minor; one += 1) found.add(`${major}.${one}`);
    before = { major, minor, end: match.index + match[0].length };
  }
  return [...found].slice(0, MOST_VERSIONS);
}

/** The key of the list of all servers that pass; `f:` is the whole ranking. */
export function listKey({ game, country, online, version }: Filters): string {
  const parts = [
    game && `game=${game}`,
    country && `country=${country}`,
    online && 'online',
    version && `version=${version}`,
  ];
  return `f:${parts.filter(Boolean).join('&')}`;
}

/** The keys of every list that a server stands in at a moment: one for each set of filters that it passes. */
export function listKeys(server: Filtered, now: Date): string[] {
  const { game, countryCode, current } = server;
  const games = game ? [undefined, game] : [undefined];
  const countries = countryCode ? [undefined, countryCode] : [undefined];
  const online = statusAt(server, now) === 'online' ? [undefined, true] : [undefined];
  const versions = [undefined, ...versionsOf(current.version)];
  return games.flatMap((one) =>
    countries.flatMap((country) =>
      online.flatMap((on) => versions.map((version) => listKey({ game: one, country, online: on, version }))),
    ),
  );
}

/** Whether a server passes at a moment. */
export function passes(server: Filtered, { game, country, online, version }: Filters, now: Date): boolean {
  return (
    (!game || server.game === game) &&
    (!country || server.countryCode === country) &&
    (!online || statusAt(server, now) === 'online') &&
    (!version || versionsOf(server.current.version).includes(version))
  );
}
