import { STATUS_FIELDS, statusAt } from '../history/current-status.ts';
import type { Config } from '../platform/config.ts';
import { pauseAt } from '../servers/listing-pause.ts';
import type { Server } from '../servers/server.ts';
import type { Sort } from './sorts.ts';

/** An absent filter does not apply. */
export type Filters = {
  /** The id in gamedig. */
  game?: string | undefined;
  /** ISO 3166, two capitals. */
  country?: string | undefined;
  online?: boolean | undefined;
  /** A release: `1.21`. */
  version?: string | undefined;
  /** A key of the tag list. There are no lists of a tag with a country or a version. */
  tag?: string | undefined;
};

export type Filtered = Pick<
  Server,
  'game' | 'countryCode' | 'probe' | 'lastReport' | 'listingPause' | 'earlierPauses'
> & {
  current: Pick<Server['current'], 'version'>;
  profile?: { tags?: string[] | undefined } | null | undefined;
};

export const FILTERED = {
  game: 1,
  countryCode: 1,
  'current.version': 1,
  'profile.tags': 1,
  ...STATUS_FIELDS,
} as const;

export type ListsConfig = Pick<Config, 'PAUSED_SERVERS'>;

/** Whether public lists and the search show it. Without a configuration, as in a migration: paused ones too. */
export function isListed(server: Filtered, config: ListsConfig | undefined, now: Date): boolean {
  return config?.PAUSED_SERVERS !== 'hidden' || !pauseAt(server, now);
}

const MOST_VERSIONS = 30;

const RELEASE = /(?<![\d.])(\d{1,3})\.(\d{1,3})(?!\d)/g;
/** Between the two releases of a range: `.x-` in `1.8.x-1.21`, ` – ` in `1.20 – 1.21`, ` to ` in `1.8 to 1.20`. */
const BETWEEN_RELEASES = /^[.x\d]*\s*(?:-|–|—|to)\s*$/i;

/**
 * From `Paper 1.21.4`, `1.20.x – 1.21`, `Requires MC 1.8 / 1.21`. A range within one major number also gives the
 * releases between its ends, if these are fewer than `MOST_VERSIONS` apart.
 */
export function versionsOf(text: string): string[] {
  const found = new Set<string>();
  let before: { major: number; minor: number; end: number } | undefined;
  for (const match of text.matchAll(RELEASE)) {
    const [major, minor] = [Number(match[1]), Number(match[2])];
    const isRange = before?.major === major && BETWEEN_RELEASES.test(text.slice(before.end, match.index));
    const from = isRange && before && minor - before.minor < MOST_VERSIONS ? before.minor : minor;
    for (let one = Math.min(from, minor); one <= minor; one += 1) found.add(`${major}.${one}`);
    before = { major, minor, end: match.index + match[0].length };
  }
  return [...found].slice(0, MOST_VERSIONS);
}

/** Only the sitemap shows this list. */
export const NO_GAME_LIST = 'f:no-game';

/** With this, the keys of all lists in an order begin. */
export function listPrefix(sort: Sort): string {
  return sort === 'rank' ? 'f:' : `s:${sort}:`;
}

/** `f:` is the whole ranking. */
export function listKey({ game, country, online, version, tag }: Filters, sort: Sort = 'rank'): string {
  const parts = [
    game && `game=${game}`,
    country && `country=${country}`,
    online && 'online',
    version && `version=${version}`,
    tag && `tag=${tag}`,
  ];
  return `${listPrefix(sort)}${parts.filter(Boolean).join('&')}`;
}

/** One for each set of filters that the server passes at `now`. */
export function listKeys(server: Filtered, now: Date): string[] {
  const { game, countryCode, current, profile } = server;
  const games = game ? [undefined, game] : [undefined];
  const countries = countryCode ? [undefined, countryCode] : [undefined];
  const online = statusAt(server, now) === 'online' ? [undefined, true] : [undefined];
  const versions = [undefined, ...versionsOf(current.version)];
  const ofTags = (profile?.tags ?? []).flatMap((tag) =>
    games.flatMap((one) => online.map((on) => listKey({ game: one, online: on, tag }))),
  );
  const others = games.flatMap((one) =>
    countries.flatMap((country) =>
      online.flatMap((on) => versions.map((version) => listKey({ game: one, country, online: on, version }))),
    ),
  );
  return [...others, ...ofTags, ...(game ? [] : [NO_GAME_LIST])];
}

export function passes(server: Filtered, { game, country, online, version, tag }: Filters, now: Date) {
  return (
    (!game || server.game === game) &&
    (!country || server.countryCode === country) &&
    (!online || statusAt(server, now) === 'online') &&
    (!version || versionsOf(server.current.version).includes(version)) &&
    (!tag || (server.profile?.tags?.includes(tag) ?? false))
  );
}
