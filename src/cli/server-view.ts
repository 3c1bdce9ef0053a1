import type { WithId } from 'mongodb';
import { isProbed } from '../games/games.ts';
import {
  latencyAt,
  playersHidden,
  playersSource,
  REPORTS_COUNT_DAYS,
  sourceAt,
  statusAt,
} from '../history/current-status.ts';
import { PLAYER_DAYS, UPTIME_DAYS } from '../history/daily-figures.ts';
import { addressesOf } from '../history/server-addresses.ts';
import { hostAndPort } from '../platform/host-and-port.ts';
import type { AppDeps } from '../process/app-deps.ts';
import { pauseAt } from '../servers/listing-pause.ts';
import type { Server } from '../servers/server.ts';
import { RANKING_DAYS } from '../votes/ranking-period.ts';
import type { VoteFigures } from '../votes/vote-figures.ts';
import { countWithNoun, iso, when } from './output-format.ts';
import { pauseJson, shownPause } from './server-pause.ts';
import { pairs } from './table.ts';

export type ShownServer = {
  server: WithId<Server>;
  figures: VoteFigures;
  listener: string | null;
  /** The number of its tokens that are not revoked. */
  tokens: number;
  owner: string | null;
};

export function serverText({ server, figures, listener, tokens, owner }: ShownServer, now: Date): string {
  const { current, daily } = server;
  return pairs([
    ['Name', server.name],
    ['Slug', server.slug],
    ['Id', server._id.toHexString()],
    ['Address', hostAndPort(server.address, server.port)],
    ['Second address', secondText(server, now)],
    ['Query port', server.queryPort ?? '-'],
    ['Game', server.game ?? '-'],
    ['Country', server.countryCode ?? '-'],
    ['Premium', server.isPremium ? 'yes' : 'no'],
    ['About', server.profile?.shortText ?? '-'],
    ['Tags', server.profile?.tags?.join(', ') || '-'],
    ['Languages', server.profile?.languages?.join(', ') || '-'],
    ['Owner', ownerText(server, owner, now)],
    ['Listed', when(server.listedAt, now)],
    ['Removed', server.removedAt ? when(server.removedAt, now) : null],
    ['Hidden', server.hiddenAt ? `${when(server.hiddenAt, now)}: ${server.hiddenReason}` : null],
    ['Paused', shownPause(server, now)],
    ['Rank', rankText(server)],
    ['Status', statusText(server, now)],
    ['Players', playersText(server)],
    [
      `In ${PLAYER_DAYS} days`,
      `${decimals(daily.averagePlayers)} players on average, ${daily.peakPlayers} at the peak`,
    ],
    ['Latency', milliseconds(latencyAt(server, now), daily.averageLatency)],
    [
      'Uptime',
      daily.uptimePercentage == null ? '-' : `${decimals(daily.uptimePercentage)} % in ${UPTIME_DAYS} days`,
    ],
    ['Version', current.version || '-'],
    ['Last checked', when(current.checkedAt, now)],
    [
      'Next check',
      isProbed(server.game) && !server.removedAt && !pauseAt(server, now)
        ? when(server.probe.nextAt, now)
        : null,
    ],
    [
      'Votes',
      `${figures.votesCount} in ${RANKING_DAYS} days, ${figures.monthlyVotes} this month, ${figures.allTimeVotes} in all`,
    ],
    ['Listener', listener ?? 'none'],
    ['Tokens', countWithNoun(tokens, 'token')],
  ]);
}

/** Null for a server with one address. */
function secondText(server: WithId<Server>, now: Date): string | null {
  const [first, second] = addressesOf(server, now);
  if (!first || !second) return null;
  const place = hostAndPort(second.address, second.port);
  return `${place} (${second.edition}): ${second.status}; the first (${first.edition}): ${first.status}`;
}

/** One, or two with a comma. */
export function addressesText({ address, port, second }: Server): string {
  const first = hostAndPort(address, port);
  return second ? `${first}, ${hostAndPort(second.address, second.port)}` : first;
}

function ownerText({ ownerId, ownerEmail, proof }: Server, owner: string | null, now: Date): string {
  if (!ownerId) return ownerEmail ? `none yet; imported for ${ownerEmail}` : '-';
  const who = owner ?? `${ownerId.toHexString()} (no such user)`;
  return proof ? `${who}, proved by ${OWNERSHIP_PROOF_TEXTS[proof.method]} ${when(proof.at, now)}` : who;
}

const OWNERSHIP_PROOF_TEXTS = { message: 'its message', dns: 'DNS', operator: 'an operator’s word' } as const;

function playersText(server: WithId<Server>): string {
  const { current } = server;
  if (playersHidden(current)) return 'players hidden';
  const source = playersSource(server) === 'reports' ? ' reported' : '';
  return `${current.onlinePlayers} of ${current.maxPlayers}${source}`;
}

function rankText({ removedAt, hiddenAt, rankPosition }: Server): string | number {
  if (removedAt) return '-';
  return hiddenAt ? 'none while hidden' : rankPosition;
}

function statusText(server: WithId<Server>, now: Date): string {
  const { probe, game, removedAt } = server;
  if (removedAt) return 'removed';
  const status = statusAt(server, now);
  if (pauseAt(server, now)) return 'unknown: the listing is paused';
  if (sourceAt(server, now) === 'reports') return `${status}, by its own reports`;
  if (!isProbed(game))
    return `${status}: ${game ? 'servers of its game cannot be queried' : 'it has no game'}, so it is not probed, and it did not report in the last ${REPORTS_COUNT_DAYS} days`;
  if (status === 'offline') return `offline since ${when(probe.offlineSince, now)}`;
  return probe.failures > 0 ? `${status}; failed checks in a row: ${probe.failures}` : status;
}

function milliseconds(now: number | null, average: number | null | undefined): string {
  const text = (ms: number) => `${decimals(ms)} ms`;
  if (average == null) return now === null ? '-' : text(now);
  return `${now === null ? '-' : text(now)}, ${text(average)} on average in ${UPTIME_DAYS} days`;
}

/** A number with at most two decimals, as in the API. */
function decimals(value: number): string {
  return String(Math.round(value * 100) / 100);
}

export function serverJson(server: WithId<Server>, now: Date, owner: string | null): Record<string, unknown> {
  const { current, daily } = server;
  return {
    server_id: server._id.toHexString(),
    slug: server.slug,
    name: server.name,
    address: server.address,
    port: server.port,
    query_port: server.queryPort ?? null,
    second_address: server.second?.address ?? null,
    second_port: server.second?.port ?? null,
    game: server.game ?? null,
    country_code: server.countryCode ?? null,
    is_premium: server.isPremium,
    owner_email: owner,
    proof: server.proof?.method ?? null,
    listed_at: iso(server.listedAt),
    removed_at: iso(server.removedAt),
    hidden_at: iso(server.hiddenAt ?? null),
    hidden_reason: server.hiddenReason ?? null,
    ...pauseJson(server, now),
    rank_position: server.removedAt ? null : server.rankPosition,
    status: server.removedAt ? null : statusAt(server, now),
    online_players: current.onlinePlayers,
    players_hidden: playersHidden(current),
    max_players: current.maxPlayers,
    latency_ms: latencyAt(server, now),
    motd: current.motd,
    server_version: current.version,
    last_checked_at: iso(current.checkedAt),
    average_players: daily.averagePlayers,
    peak_players: daily.peakPlayers,
    average_latency: daily.averageLatency ?? null,
    uptime_percentage: daily.uptimePercentage ?? null,
  };
}

export async function ownerEmail(deps: AppDeps, server: Server): Promise<string | null> {
  const { ownerId } = server;
  return (ownerId && (await ownersOf(deps, [server])).get(ownerId.toHexString())) || null;
}

/** The e-mail addresses of servers' owners, by user id in hex. */
export async function ownersOf({ users }: AppDeps, servers: Server[]): Promise<Map<string, string>> {
  const ids = servers.flatMap(({ ownerId }) => (ownerId ? [ownerId] : []));
  const found = users.find({ _id: { $in: ids } }, { projection: { email: 1 } });
  return new Map(await found.map(({ _id, email }): [string, string] => [_id.toHexString(), email]).toArray());
}
