import { isIPv6 } from 'node:net';
import { type Protocol, protocols } from 'gamedig';
import { type Game, gameOf } from '../games/games.ts';
import { transportOf } from '../games/protocols.ts';
import type { AddressRanges } from '../platform/address-guard.ts';
import type { MayConnect } from '../platform/limits/outgoing-limit.ts';
import type { Ask, Probe, ServerAnswer, Target } from './ask.ts';
import { findServer, type Lookups } from './find-server.ts';
import { tame } from './protocol-traps.ts';
import { QueryConnections, type QueryServer } from './query-connections.ts';
import { failedProbe, QueryError } from './query-error.ts';
import { limitQueries, type QueryLimit } from './query-limit.ts';
import { readAnswer } from './read-answer.ts';

/** One query, name look-up included, waiting for a place not. */
const QUERY_MS = 5_000;

/** One UDP request, its repetition included. */
const DATAGRAM_MS = 2_000;

/** UDP queries at once: beyond, answers get lost in this machine. */
const UDP_AT_ONCE = 128;

/** What is told to whatever a protocol leaves waiting. One for all: making an error of its own is slow. */
const OVER = new QueryError('stopped', 'The query is over.');

/** What one query may take and who may end it. */
type Bounds = {
  limit: QueryLimit;
  lookups: Lookups;
  signal: AbortSignal | undefined;
  mayConnect: MayConnect | undefined;
};

/**
 * Makes the way to ask game servers, one for a process: it holds the limit of UDP queries at once.
 *
 * gamedig's protocols do the talking, over connections of ours: they reach only addresses that the guard has
 * checked, are bounded in time and size, and are closed when the query has ended.
 *
 * @param lookups - how names are resolved; the machine's way by default
 */
export function createAsk(ranges: AddressRanges, lookups: Lookups = {}): Ask {
  const limit = limitQueries(UDP_AT_ONCE);
  return async (target, signal, mayConnect): Promise<Probe> => {
    try {
      return { ok: true, answer: await query(ranges, target, { limit, lookups, signal, mayConnect }) };
    } catch (error) {
      return failedProbe(error);
    }
  };
}

async function query(
  ranges: AddressRanges,
  target: Target,
  { limit, lookups, signal, mayConnect }: Bounds,
): Promise<ServerAnswer> {
  const game = gameOf(target.game);
  const began = performance.now();
  const options = { ranges, timeoutMs: QUERY_MS, signal, ...lookups };
  const { host, addresses, ports } = await findServer(target, game, options);
  const left = QUERY_MS - (performance.now() - began);

  const servers = addresses.flatMap((address) =>
    ports.map((port) => ({ host, address, port, where: `${isIPv6(host) ? `[${host}]` : host}:${port}` })),
  );
  const ask = () => askInTurn(servers, game, target, left, { signal, mayConnect });
  return transportOf(game.protocol) === 'udp' ? limit(ask, signal) : ask();
}

/** Asks at one place after the other; each gets an equal share of the time that is left. */
async function askInTurn(
  servers: QueryServer[],
  game: Game,
  target: Target,
  leftMs: number,
  { signal, mayConnect }: Pick<Bounds, 'signal' | 'mayConnect'>,
): Promise<ServerAnswer> {
  const until = performance.now() + leftMs;
  const errors: unknown[] = [];
  let isLimited = false;
  for (const [index, server] of servers.entries()) {
    if (mayConnect && !(await mayConnect(server.address))) {
      isLimited = true;
      continue;
    }
    const share = (until - performance.now()) / (servers.length - index);
    try {
      return await askAt(server, game, target, share, signal);
    } catch (error) {
      if (error instanceof QueryError && error.failure === 'stopped') throw error;
      errors.push(error);
    }
  }
  // The server may be at a place that was not asked.
  if (isLimited && errors.every(saysNobodyIsThere)) throw limited();
  throw mostTelling(errors);
}

const limited = () =>
  new QueryError(
    'outgoing-limited',
    'The server was not asked: only so many connections a minute are opened to an address that has not answered, and for one account. Try again in a minute.',
  );

/** An answer that is broken says more than a closed port, and that more than silence. */
function mostTelling(errors: unknown[]): unknown {
  const refused = (error: unknown) => faultOf(error) === 'connection-refused';
  return errors.find((error) => !saysNobodyIsThere(error)) ?? errors.find(refused) ?? errors[0];
}

function saysNobodyIsThere(error: unknown): boolean {
  return ['no-answer', 'connection-refused'].includes(faultOf(error));
}

function faultOf(error: unknown): QueryError['failure'] {
  return error instanceof QueryError ? error.failure : 'answer-broken';
}

const stopped = () => new QueryError('stopped', 'The check was stopped.');

async function askAt(
  server: QueryServer,
  game: Game,
  target: Target,
  timeoutMs: number,
  signal: AbortSignal | undefined,
): Promise<ServerAnswer> {
  if (signal?.aborted) throw stopped();
  const { promise: ended, reject } = Promise.withResolvers<never>();
  ended.catch(() => {});
  const connections = new QueryConnections(server, Math.min(DATAGRAM_MS, timeoutMs));
  const end = (error: QueryError) => {
    reject(error);
    connections.end(error);
  };
  const onStop = () => end(stopped());
  const timer = setTimeout(
    () => end(new QueryError('no-answer', `${server.where} did not answer in time.`)),
    timeoutMs,
  );
  signal?.addEventListener('abort', onStop);
  try {
    const results = await Promise.race([talk(server, game, target, connections, ended), ended]);
    return readAnswer(results, game, connections.roundTripMs ?? 0);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', onStop);
    end(OVER);
  }
}

const SPEAKERS = new Map(Object.entries(protocols));

function speakerOf({ name, protocol }: Game): Protocol {
  const Speaker = SPEAKERS.get(protocol);
  if (!Speaker) throw new QueryError('game-unknown', `We do not know how to ask a server of ${name}.`);
  return new Speaker();
}

/** Lets gamedig's protocol speak. */
function talk(
  { host, address, port }: QueryServer,
  game: Game,
  target: Target,
  connections: QueryConnections,
  ended: Promise<never>,
) {
  const protocol = speakerOf(game);
  // TeamSpeak's query port tells of all servers of a machine: which one is meant is said by the port of players.
  const isTeamspeak = game.protocol.startsWith('teamspeak');
  protocol.options = {
    host,
    address,
    port: isTeamspeak ? target.port : port,
    ...(isTeamspeak && target.queryPort !== null ? { teamspeakQueryPort: target.queryPort } : {}),
    socketTimeout: DATAGRAM_MS,
    stripColors: true,
    // Lists of players and rules cost more requests, some of which are never answered; the counts stand elsewhere.
    requestPlayers: false,
  };
  protocol.abortedPromise = ended;
  tame(game.protocol, protocol);
  connections.serve(protocol, game.protocol);
  return protocol.runOnce();
}
