import type { Protocol } from 'gamedig';
import { type Game, gameOf } from '../games/games.ts';
import { transportOf } from '../games/protocols.ts';
import type { AddressRanges } from '../platform/address-guard.ts';
import { hostAndPort } from '../platform/host-and-port.ts';
import type { MayConnect } from '../platform/limits/outgoing-limit.ts';
import type { Ask, Probe, ServerAnswer, Target } from './ask.ts';
import type { Asked, OwnProtocol } from './own-protocol.ts';
import { keepFirstAnswer, limitProtocol } from './protocol-traps.ts';
import { DETAILS_REQUEST, INFO_REQUEST } from './protocols/a2s.ts';
import { askA2s } from './protocols/ask-a2s.ts';
import { askJava } from './protocols/ask-java.ts';
import { askBedrock } from './protocols/bedrock.ts';
import { OldServers } from './protocols/old-servers.ts';
import { askFivem, askQuake } from './protocols/quake.ts';
import { askSamp } from './protocols/samp.ts';
import { askTeamspeak2, askTeamspeak3 } from './protocols/teamspeak.ts';
import { QueryConnections, type QueryServer } from './query-connections.ts';
import { failedProbe, hostSaysStopped, outgoingLimited, QueryError } from './query-error.ts';
import { limitQueries, type QueryLimit } from './query-limit.ts';
import { isStoppedHost, readServerAnswer, saidBy, type UncheckedAnswer } from './read-answer.ts';
import { type Lookups, resolveServer } from './resolve-server.ts';

/** The protocols that Tallyport implements itself, under gamedig's names. For all others gamedig is used (ADR 121). */
const OWN: Readonly<Record<string, OwnProtocol>> = {
  dayz: askA2s(INFO_REQUEST),
  fivem: askFivem,
  goldsrc: askA2s(DETAILS_REQUEST),
  gtasao: askSamp,
  hexen2: askQuake,
  minecraftbedrock: askBedrock,
  minecraftvanilla: askJava,
  quake1: askQuake,
  quake2: askQuake,
  quake3: askQuake,
  samp: askSamp,
  sdtd: askA2s(INFO_REQUEST),
  teamspeak2: askTeamspeak2,
  teamspeak3: askTeamspeak3,
  toxikk: askA2s(INFO_REQUEST),
  valve: askA2s(INFO_REQUEST),
  vcmp: askSamp,
  warsow: askQuake,
  xonotic: askQuake,
};

/** Tallyport's own implementation of a game's protocol; undefined if there is none. */
function ownProtocol({ id, protocol }: Game): OwnProtocol | undefined {
  // Battalion 1944 sends its name and counts in the answer to a second question, which only gamedig asks.
  if (id === 'battalion1944') return undefined;
  return Object.hasOwn(OWN, protocol) ? OWN[protocol] : undefined;
}

/** With the look-up of the name; without the wait for a slot and the import of gamedig. */
const QUERY_MS = 5_000;

/** The longest wait for the answer to a UDP request, its repetition included. */
const DATAGRAM_MS = 2_000;

/** With more UDP queries at once, some answers would be lost. */
const UDP_AT_ONCE = 128;

/** One for all requests that are open when a query ends, because creating errors is slow. */
const OVER = new QueryError('stopped', 'The query is over.');

/** All queries of a process share it. */
type AskDeps = { ranges: AddressRanges; lookups: Lookups; limit: QueryLimit; oldServers: OldServers };

type Bounds = { signal: AbortSignal | undefined; mayConnect: MayConnect | undefined };

type Query = Omit<Asked, 'server'> & Bounds;

type Answered = { answer: ServerAnswer; ip: string };

/** Create one per process: it has the limit of concurrent UDP queries. `lookups`: by the system's rules by default. */
export function createAsk(ranges: AddressRanges, lookups: Lookups = {}): Ask {
  const deps = { ranges, lookups, limit: limitQueries(UDP_AT_ONCE), oldServers: new OldServers() };
  return async (target, signal, mayConnect): Promise<Probe> => {
    try {
      return { ok: true, ...(await query(deps, target, { signal, mayConnect })) };
    } catch (error) {
      return failedProbe(error);
    }
  };
}

async function query(
  { ranges, lookups, limit, oldServers }: AskDeps,
  target: Target,
  bounds: Bounds,
): Promise<Answered> {
  const { signal } = bounds;
  const game = gameOf(target.game);
  // Loading gamedig does not count as time of the query.
  if (!ownProtocol(game)) await loadGamedig();
  const began = performance.now();
  const options = { ranges, timeoutMs: QUERY_MS, signal, ...lookups };
  const { host, addresses, ports } = await resolveServer(target, game, options);
  const left = QUERY_MS - (performance.now() - began);

  const servers = addresses.flatMap((address) =>
    ports.map((port) => ({ host, address, port, where: hostAndPort(host, port) })),
  );
  const query = () => queryInOrder(servers, { game, target, oldServers, ...bounds }, left);
  return transportOf(game.protocol) === 'udp' ? limit(query, signal) : query();
}

/** In turn, until one answers. Each gets an equal share of the remaining time. */
async function queryInOrder(servers: QueryServer[], query: Query, leftMs: number): Promise<Answered> {
  const { mayConnect } = query;
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
      return { answer: await queryAt(server, query, share), ip: server.address };
    } catch (error) {
      if (error instanceof QueryError && error.code === 'stopped') throw error;
      errors.push(error);
    }
  }
  // The server may answer at an address or port that a limit left out.
  if (isLimited && errors.every(isUnreachable)) throw outgoingLimited();
  throw mostSpecific(errors);
}

/** A broken answer is preferred to a closed port, and a closed port to no answer. */
function mostSpecific(errors: unknown[]): unknown {
  const refused = (error: unknown) => failureOf(error) === 'connection-refused';
  return errors.find((error) => !isUnreachable(error)) ?? errors.find(refused) ?? errors[0];
}

function isUnreachable(error: unknown): boolean {
  return ['no-answer', 'connection-refused'].includes(failureOf(error));
}

function failureOf(error: unknown): QueryError['code'] {
  return error instanceof QueryError ? error.code : 'answer-broken';
}

const stopped = () => new QueryError('stopped', 'The check was stopped.');

async function queryAt(
  server: QueryServer,
  { signal, ...asked }: Query,
  timeoutMs: number,
): Promise<ServerAnswer> {
  if (signal?.aborted) throw stopped();
  const { promise: ended, reject } = Promise.withResolvers<never>();
  ended.catch(() => {});
  const connections = new QueryConnections(server, Math.min(DATAGRAM_MS, timeoutMs));
  const stop = (error: QueryError) => {
    connections.end(error);
    // A protocol can still return its first answer if only a later question ran into the deadline.
    setImmediate(reject, error);
  };
  const onStop = () => stop(stopped());
  const timer = setTimeout(
    () => stop(new QueryError('no-answer', `${server.where} did not answer in time.`)),
    timeoutMs,
  );
  signal?.addEventListener('abort', onStop);
  try {
    const said = await Promise.race([askOnce({ server, ...asked }, connections, ended), ended]);
    if (signal?.aborted) throw stopped();
    const answer = readServerAnswer(said, asked.game, connections.roundTripMs ?? 0);
    if (asked.game.protocol.startsWith('minecraft') && isStoppedHost(answer)) throw hostSaysStopped();
    return answer;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', onStop);
    stop(OVER);
  }
}

/** Most processes make no such query. */
const loadGamedig = () => import('gamedig');

async function createProtocol({ name, protocol }: Game): Promise<Protocol> {
  const { protocols } = await loadGamedig();
  const ProtocolClass = Object.hasOwn(protocols, protocol) ? protocols[protocol] : undefined;
  if (!ProtocolClass) throw new QueryError('game-unknown', `Servers of ${name} cannot be queried.`);
  return new ProtocolClass();
}

function askOnce(
  asked: Asked,
  connections: QueryConnections,
  ended: Promise<never>,
): Promise<UncheckedAnswer> {
  const own = ownProtocol(asked.game);
  return own ? own(asked, connections) : askWithGamedig(asked, connections, ended);
}

async function askWithGamedig(
  { server: { host, address, port }, game }: Asked,
  connections: QueryConnections,
  ended: Promise<never>,
): Promise<UncheckedAnswer> {
  const protocol = await createProtocol(game);
  protocol.options = {
    host,
    address,
    port,
    socketTimeout: DATAGRAM_MS,
    stripColors: true,
    // Lists of players and rules need more requests, which some servers never answer.
    requestPlayers: false,
  };
  protocol.abortedPromise = ended;
  limitProtocol(game.protocol, protocol);
  connections.attachTo(protocol, game.protocol);
  keepFirstAnswer(game.protocol, protocol);
  return saidBy(await protocol.runOnce(), game);
}
