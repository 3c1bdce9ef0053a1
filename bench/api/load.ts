/**
 * Calls one endpoint repeatedly; each connection sends the next request after the answer to the last one. It is a
 * separate process and uses raw sockets to need little CPU time, because it shares the machine with the measured
 * process. The parent sends a `Round` and gets a `Score`.
 */
import { connect } from 'node:net';
import { quantile } from '../delivery/figures.ts';

/** A server's id and a token for it. */
export type Caller = { serverId: string; token: string };

/** `check-voted`: check-vote of a player who has voted (`addVotes` of listing.ts). */
export type Endpoint =
  | 'vote'
  | 'check-vote'
  | 'check-voted'
  | 'info'
  | 'reviews'
  | 'status'
  | 'list'
  | 'server';

/** Orders of the list, which are read in turn. */
const SORTS = ['rank', 'players', 'newest', 'rating', 'uptime'];

/** Calls without a token come from enough networks that none uses up its limit. They are read from a header. */
const CALLS_OF_NETWORK = 100;
/** So many networks call in turn. */
const NETWORKS = 100;

export type Round = {
  port: number;
  endpoint: Endpoint;
  connections: number;
  /** When the round ends: after some seconds, or after a number of answers. */
  seconds: number;
  answers: number;
  callers: Caller[];
  /** The prefix of every player's name, unique to the round. */
  name: string;
};

/** Milliseconds; `failed` counts answers other than 200. */
export type Score = { answers: number; failed: number; perSecond: number; p50: number; p99: number };

function requestOf({ endpoint, callers, name }: Round, n: number): string {
  const { serverId, token } = callers[n % callers.length] as Caller;
  if (endpoint === 'list' || endpoint === 'server') {
    const rest = endpoint === 'server' ? `/${serverId}` : `?sort=${SORTS[n % SORTS.length]}`;
    const network =
      0x0a_00_00_00 +
      networkOfRound +
      NETWORKS * Math.floor(n / (NETWORKS * CALLS_OF_NETWORK)) +
      (n % NETWORKS);
    const address = [24, 16, 8, 0].map((bits) => (network >> bits) & 0xff).join('.');
    return `GET /api/v1/servers${rest} HTTP/1.1\r\nHost: bench\r\nX-Forwarded-For: ${address}\r\n\r\n`;
  }
  const path = `/api/v1/servers/${serverId}/${endpoint}`;
  const head = `Host: bench\r\nAuthorization: Bearer ${token}\r\n`;
  if (endpoint === 'check-voted') {
    const past = `/api/v1/servers/${serverId}/check-vote?username=past${n % callers.length}`;
    return `GET ${past} HTTP/1.1\r\n${head}\r\n`;
  }
  if (endpoint === 'check-vote') return `GET ${path}?username=${name}${n} HTTP/1.1\r\n${head}\r\n`;
  if (endpoint !== 'vote' && endpoint !== 'status') return `GET ${path} HTTP/1.1\r\n${head}\r\n`;
  const body =
    endpoint === 'vote' ? `{"username":"${name}${n}"}` : `{"online_players":${n % 100},"max_players":100}`;
  const kind = `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n`;
  return `POST ${path} HTTP/1.1\r\n${head}${kind}\r\n${body}`;
}

/** The length of the complete answer in bytes; unknown while its head is incomplete. */
function lengthOf(text: string): number {
  const end = text.indexOf('\r\n\r\n');
  if (end < 0) return Number.POSITIVE_INFINITY;
  const length = /\r\ncontent-length: (\d+)/i.exec(text.slice(0, end + 2))?.[1];
  return end + 4 + Number(length ?? 0);
}

/** The first network of the next round. */
let networkOfRound = 0;

async function run(round: Round): Promise<Score> {
  const times: number[] = [];
  let failed = 0;
  let sent = 0;
  const began = performance.now();
  const over = () => sent >= round.answers || performance.now() - began >= round.seconds * 1_000;

  const converse = () => {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const socket = connect({ port: round.port, host: '127.0.0.1', noDelay: true });
    let text = '';
    let since = 0;
    const next = () => {
      if (over()) {
        socket.destroy();
        return resolve();
      }
      text = '';
      since = performance.now();
      socket.write(requestOf(round, sent));
      sent += 1;
    };
    // `latin1` makes one character of each byte, so string lengths are byte lengths.
    socket.setEncoding('latin1').on('data', (chunk) => {
      text += chunk;
      if (text.length < lengthOf(text)) return;
      times.push(performance.now() - since);
      if (!text.startsWith('HTTP/1.1 200')) failed += 1;
      next();
    });
    socket.on('connect', next).on('error', reject);
    socket.on('close', () => reject(new Error('a connection was closed')));
    return promise;
  };
  await Promise.all(Array.from({ length: round.connections }, converse));
  networkOfRound += NETWORKS * Math.ceil(sent / (NETWORKS * CALLS_OF_NETWORK));
  const seconds = (performance.now() - began) / 1_000;
  return {
    answers: times.length,
    failed,
    perSecond: times.length / seconds,
    p50: quantile(times, 0.5),
    p99: quantile(times, 0.99),
  };
}

process.on('message', async (round: Round) => process.send?.(await run(round)));
process.on('disconnect', () => process.exit(0));
