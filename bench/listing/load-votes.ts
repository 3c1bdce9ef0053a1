import { ObjectId } from 'mongodb';
import { makeIndexes } from '../../src/database/indexes.ts';
import { setListener } from '../../src/delivery/change-listener.ts';
import { type Outage, sampleDelivery } from '../../src/demo/sample-deliveries.ts';
import { chance } from '../../src/demo/sample-players.ts';
import type { Listener } from '../../src/listeners/listener.ts';
import { after, DAY, HOUR, MINUTE } from '../../src/platform/clock.ts';
import { addDays, dayOf, startOfDay } from '../../src/platform/periods/period-marks.ts';
import type { AppDeps } from '../../src/process/app-deps.ts';
import { newVoteId } from '../../src/votes/cast/cast-vote.ts';
import { noDelivery, type Vote } from '../../src/votes/vote.ts';

/** So many servers have 40 % of all votes: with 10,000,000 votes, 500,000 each. The next have 40 %, all others 20 %. */
export const BIG = 8;
const MIDDLE = 2_000;
const VOTE_DAYS = 60;
const BATCH = 5_000;

/** The servers whose listener is in trouble, after those in the middle. */
const TROUBLED = { from: MIDDLE, each: 400 };
/** One big server's listener does not answer either. */
export const BIG_DOWN = 2;

/** How many votes a server with this number has on average a day. */
function votesADay(i: number, servers: number, votes: number): number {
  const [share, of] = i < BIG ? [0.4, BIG] : i < MIDDLE ? [0.4, MIDDLE - BIG] : [0.2, servers - MIDDLE];
  return (share * votes) / of / VOTE_DAYS;
}

type State = 'well' | 'unreachable' | 'paused' | 'neglected';

function stateOf(i: number): State {
  if (i === BIG_DOWN) return 'unreachable';
  return (
    (['unreachable', 'paused', 'neglected'] as const)[Math.floor((i - TROUBLED.from) / TROUBLED.each)] ??
    'well'
  );
}

const hasListener = (i: number) => i < TROUBLED.from + 3 * TROUBLED.each || i % 4 === 0;

/** By the number of their server: a listener for the first servers, and for a fourth of the others. */
export async function loadListeners(deps: AppDeps, ids: ObjectId[]): Promise<Map<number, Listener>> {
  const [first] = ids;
  const now = deps.clock.now();
  if (!first) throw new Error('there are no servers');
  const settings = {
    protocol: 'votifier-v2',
    host: 'votes.example.org',
    port: 8_192,
    secret: 'x'.repeat(26),
  } as const;
  await setListener(deps, first, { ...settings, serviceName: 'Tallyport' }, 'bench');
  const model = await deps.listeners.findOneAndDelete({ serverId: first });
  if (!model) throw new Error('not stored');
  const longAgo = after(now, -90 * DAY);
  const taking = {
    createdAt: longAgo,
    updatedAt: longAgo,
    acknowledgedAt: longAgo,
    lastDeliveryConfirmed: true,
  };
  const listeners = new Map<number, Listener>();
  for (const [i, serverId] of ids.entries()) {
    if (!hasListener(i)) continue;
    const listener = {
      ...model,
      ...taking,
      lastDeliveredAt: after(now, -HOUR),
      _id: new ObjectId(),
      serverId,
    };
    listeners.set(i, { ...listener, ...inState(stateOf(i), after(now, -2 * DAY - i * MINUTE)) } as Listener);
  }
  const all = [...listeners.values()];
  for (let from = 0; from < all.length; from += BATCH)
    await deps.listeners.insertMany(all.slice(from, from + BATCH) as never, { ordered: false });
  return listeners;
}

function inState(state: State, at: Date): Partial<Listener> {
  if (state === 'unreachable')
    return {
      breaker: {
        failures: 3,
        tests: 9,
        openSince: at,
        nextTestAt: after(at, 4 * DAY),
        code: 'connection-refused',
      },
    };
  if (state === 'paused') return { pause: { at, by: 'tallyport', code: 'bad-signature' } };
  if (state === 'neglected')
    return { protocol: 'fetch', host: '', port: 0, sealedSecret: '', fetched: { at, agent: 'relay' } };
  return {};
}

export type Excluding = { exclusionId: ObjectId; server: number; fromDay: number; days: number };

/**
 * Inserts votes of 60 days with their deliveries, in about the order in which they were cast, and their counters. The
 * indexes are dropped and made again by the function that makes them at a migration: to make them at the end is faster.
 */
export async function loadVotes(
  deps: AppDeps,
  ids: ObjectId[],
  votes: number,
  excluding: Excluding,
): Promise<{ votes: number; listeners: number }> {
  const listeners = await loadListeners(deps, ids);
  await deps.votes.dropIndexes();
  const counted = new Map<string, Record<string, number>>();
  const today = dayOf(deps.clock.now());
  const insert = inserter(deps);
  let all = 0;
  for (let ago = VOTE_DAYS - 1; ago >= 0; ago -= 1) {
    const day = addDays(today, -ago);
    for (const [i, serverId] of ids.entries()) {
      const mean = votesADay(i, ids.length, votes);
      const count = Math.floor(mean + chance(i * 1.3 + ago * 7.7));
      const isExcluded =
        i === excluding.server && ago <= excluding.fromDay && ago > excluding.fromDay - excluding.days;
      const cast = votesOfDay(deps, { i, serverId, count, ago, day, listener: listeners.get(i) ?? null });
      for (const vote of cast)
        await insert(
          isExcluded
            ? { ...vote, excludedAt: after(vote.votedAt, DAY), excludedBy: [excluding.exclusionId] }
            : vote,
        );
      all += cast.length;
      if (cast.length > 0 && !isExcluded)
        countIn(counted, `${i} ${day.slice(0, 7)}`, day.slice(8), cast.length);
    }
  }
  await insert(null);
  await insertCounters(deps, ids, counted);
  await makeIndexes(deps.mongo);
  return { votes: all, listeners: listeners.size };
}

type Day = {
  i: number;
  serverId: ObjectId;
  count: number;
  ago: number;
  day: string;
  listener: Listener | null;
};

/** Each player votes at most once a day, so the day makes the number of a vote unique. */
function votesOfDay({ clock }: AppDeps, { i, serverId, count, ago, day, listener }: Day): Vote[] {
  const start = startOfDay(day);
  const settled = after(clock.now(), -MINUTE);
  const outage: Outage | null =
    stateOf(i) === 'well' ? null : { from: after(clock.now(), -2 * DAY), to: null };
  const cast: Vote[] = [];
  for (let n = 0; n < count; n += 1) {
    const votedAt = after(start, Math.floor(((n + chance(i + n + ago / 61)) / count) * DAY));
    if (votedAt > settled) break;
    const username = `player${(n + ago * 3 + i) % (3 * count)}`;
    const isPage = chance(n * 1.7 + ago) < 0.7;
    const isOut = outage !== null && votedAt >= outage.from;
    const story = {
      votedAt,
      draw: chance(n + i / 3 + ago * 1.1),
      outage: isOut ? outage : null,
      place: n + 1,
    };
    cast.push({
      _id: newVoteId(votedAt),
      serverId,
      username,
      usernameKey: username,
      seq: VOTE_DAYS - ago,
      ...(isPage ? { pageVotes: VOTE_DAYS - ago } : {}),
      votedAt,
      tokenId: null,
      source: isPage ? 'web' : 'api',
      delivery: listener ? sampleDelivery(listener, story) : noDelivery(),
    });
  }
  return cast;
}

/** Two batches are under way at once. Null: the end. */
function inserter({ votes }: AppDeps): (vote: Vote | null) => Promise<void> {
  let batch: Vote[] = [];
  let last: Promise<unknown> = Promise.resolve();
  return async (vote) => {
    if (vote) batch.push(vote);
    if (vote && batch.length < BATCH) return;
    await last;
    if (batch.length > 0) last = votes.insertMany(batch, { ordered: false, writeConcern: { w: 1 } });
    batch = [];
    if (!vote) await last;
  };
}

function countIn(
  counted: Map<string, Record<string, number>>,
  key: string,
  day: string,
  votes: number,
): void {
  const days = counted.get(key) ?? {};
  days[day] = votes;
  counted.set(key, days);
}

async function insertCounters(
  { voteCounters }: AppDeps,
  ids: ObjectId[],
  counted: Map<string, Record<string, number>>,
): Promise<void> {
  const all = [...counted].map(([key, days]) => {
    const [i = '', month = ''] = key.split(' ');
    return { _id: new ObjectId(), serverId: ids[Number(i)] as ObjectId, month, days };
  });
  for (let from = 0; from < all.length; from += BATCH)
    await voteCounters.insertMany(all.slice(from, from + BATCH), { ordered: false });
}
