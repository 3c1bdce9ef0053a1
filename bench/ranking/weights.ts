/**
 * What weighed votes cost a listing of many servers, compared with the same listing without weights, in turn:
 *
 *   node bench/ranking/weights.ts [servers] [votes] [rounds] [pages]
 *
 * The counters of 30 days are weighed: every busy day, a tenth of them with votes that weigh less. In each round the ranking
 * is computed with these weights, and as before the first weighed day (ADR 109), each twice: when the figures of most
 * servers change and when none does. After each, uncached pages of the listing are requested, one at a time. At the end
 * yesterday's votes are inserted, of one network for each tenth server, and weighed: the work of once a day.
 */
import { ObjectId, UUID } from 'mongodb';
import { after, HOUR, MINUTE } from '../../src/platform/clock.ts';
import { addDays, dayOf, markDone, startOfDay } from '../../src/platform/periods/period-marks.ts';
import { ALWAYS_FULL } from '../../src/ranking/evidence/due-days.ts';
import { rankingDays } from '../../src/ranking/ranking-pipeline.ts';
import { recomputeRanks } from '../../src/ranking/recompute-ranks.ts';
import { newListing } from '../../src/servers/listed-servers.ts';
import { noDelivery, type Vote } from '../../src/votes/vote.ts';
import type { DayWeight, VoteCounter } from '../../src/votes/vote-counter.ts';
import { playerHash } from '../../src/votes/web/origin-keys.ts';
import { ORIGIN_STORED_MS, type VoteOrigin } from '../../src/votes/web/vote-origin.ts';
import { cpuSeconds, openEnvironment } from '../delivery/environment.ts';
import { median } from '../delivery/figures.ts';

const [servers = 100_000, votes = 10_000_000, rounds = 3, pages = 100] = process.argv.slice(2).map(Number);
const BULK = 5_000;

console.log(`node bench/ranking/weights.ts ${servers} ${votes} ${rounds} ${pages}`);
// Each request comes from another network.
const environment = await openEnvironment({ TRUST_PROXY: '1' });
const { deps, mongodPid } = environment;
const now = deps.clock.now();
const days = rankingDays(dayOf(now));
const yesterday = addDays(dayOf(now), -1);
const months = [...Map.groupBy(days, (day) => day.slice(0, 7))];

/** The votes of a server on a day: many for some servers and few for most. */
function votesOn(i: number, n: number): number {
  const share = (votes / servers / days.length) * (0.2 + 1.6 * (((i * 2_654_435_761) % 1_000) / 1_000));
  return Math.round(share + ((i + n) % 3));
}

/** The counters of a server, as `weighVotes` leaves them: a tenth of the busy days weigh a vote less, and one waits. */
function countersOf(serverId: ObjectId, i: number): VoteCounter[] {
  return months.map(([month, ofMonth]) => {
    const counter = { days: {}, weighed: {}, less: {}, waiting: {} } as Record<
      string,
      Record<string, unknown>
    >;
    for (const day of ofMonth) {
      const field = day.slice(8);
      const of = votesOn(i, days.indexOf(day));
      Object.assign(counter.days ?? {}, { [field]: of });
      if (of <= ALWAYS_FULL) continue;
      const isLess = (i + days.indexOf(day)) % 10 === 0;
      const weight: DayWeight = {
        of,
        tenths: 10 * of - 19,
        isFinal: true,
        players: 2,
        network: 1,
        waiting: 1,
      };
      Object.assign(counter.weighed ?? {}, { [field]: isLess ? weight : of });
      if (isLess) Object.assign(counter.less ?? {}, { [field]: 19 });
      if (isLess) Object.assign(counter.waiting ?? {}, { [field]: 1 });
    }
    const { less = {}, waiting = {}, ...rest } = counter;
    const isAnyLess = Object.keys(less).length > 0;
    return {
      _id: new ObjectId(),
      serverId,
      month,
      ...rest,
      ...(isAnyLess ? { less, waiting } : {}),
    } as VoteCounter;
  });
}

async function fill(): Promise<void> {
  for (let from = 0; from < servers; from += BULK) {
    const listed = Array.from({ length: Math.min(BULK, servers - from) }, (_, n) => {
      const i = from + n;
      const settings = {
        name: `Server ${i}`,
        address: 'play.example.org',
        port: 25_565,
        queryPort: null,
        game: 'minecraft',
        countryCode: 'DE',
        isPremium: false,
      };
      const listedAt = after(now, (i - servers) * MINUTE);
      const listing = newListing({ _id: new ObjectId(), settings, now, listedAt, rankPosition: i + 1 });
      return { ...listing, slug: `server-${i}`, slugs: [`server-${i}`] };
    });
    await deps.servers.insertMany(listed, { ordered: false });
    const counters = listed.flatMap(({ _id }, n) => countersOf(_id, from + n));
    await deps.voteCounters.insertMany(counters, { ordered: false });
  }
}

/** Yesterday's votes as the counters have them, and the network of each tenth server's voters. Returns their number. */
async function addVotes(): Promise<number> {
  const votedAt = after(startOfDay(yesterday), HOUR);
  const expiresAt = after(startOfDay(yesterday), ORIGIN_STORED_MS + HOUR);
  let some: Vote[] = [];
  let origins: VoteOrigin[] = [];
  let inserted = 0;
  let n = 0;
  const insert = async () => {
    if (some.length > 0) await deps.votes.insertMany(some, { ordered: false });
    if (origins.length > 0) await deps.voteOrigins.insertMany(origins, { ordered: false });
    inserted += some.length;
    [some, origins] = [[], []];
  };
  for await (const { serverId, days: counted } of deps.voteCounters.find({ month: yesterday.slice(0, 7) })) {
    const names = Array.from({ length: counted[yesterday.slice(8)] ?? 0 }, (_, i) => `name ${i}`);
    for (const name of names) {
      const vote = { _id: new UUID(), serverId, username: name, usernameKey: name, seq: 1, votedAt } as const;
      some.push({ ...vote, source: 'web', tokenId: null, delivery: noDelivery() });
    }
    n += 1;
    if (n % 10 === 0) {
      const players = names.map((name) => ({ serverId, player: playerHash(deps, name) }));
      origins.push({ _id: `n${n}:${yesterday}`, kind: 'network', isAllowed: true, players, expiresAt });
    }
    if (some.length >= BULK) await insert();
  }
  await insert();
  return inserted;
}

/** The first weighed day: the first of the ranking's, or tomorrow, so that none is weighed. */
async function setWeights(isOn: boolean): Promise<void> {
  await deps.periodMarks.deleteMany({ work: 'weigh-votes' });
  await markDone(deps, 'weigh-votes', isOn ? (days[0] ?? '') : addDays(dayOf(now), 1));
}

type Cost = { ms: number; cpuMs: number; weighed: number };

/** One ranking: its time, and the processor time of this process and of mongod. */
async function rank(): Promise<Cost> {
  const [mongod, own, began] = [await cpuSeconds(mongodPid), process.cpuUsage(), performance.now()];
  const { weighed } = await recomputeRanks(deps);
  const { user, system } = process.cpuUsage(own);
  const cpuMs = (user + system) / 1_000 + 1_000 * ((await cpuSeconds(mongodPid)) - mongod);
  return { ms: performance.now() - began, cpuMs, weighed };
}

await fill();
const web = await environment.web();
let requests = 0;

/** The median time of uncached pages, and the processor time of one in the web process and mongod. */
async function readPages(): Promise<Cost> {
  const before = (await cpuSeconds(web.pid)) + (await cpuSeconds(mongodPid));
  const times: number[] = [];
  for (let n = 0; n < pages; n += 1) {
    requests += 1;
    const from = `10.1.${(requests >> 8) & 255}.${requests & 255}`;
    const began = performance.now();
    const answer = await fetch(`${web.url}/?page=${1 + ((n * 7) % Math.ceil(servers / 20))}`, {
      headers: { 'x-forwarded-for': from },
    });
    await answer.text();
    times.push(performance.now() - began);
    if (answer.status !== 200) throw new Error(`page ${n} answered ${answer.status}`);
  }
  const cpu = (await cpuSeconds(web.pid)) + (await cpuSeconds(mongodPid)) - before;
  return { ms: median(times), cpuMs: (1_000 * cpu) / pages, weighed: 0 };
}

const KINDS = ['every figure new', 'none new', 'page'] as const;
const costs = new Map<string, Cost[]>();
const note = (name: string, cost: Cost) => costs.set(name, [...(costs.get(name) ?? []), cost]);

await setWeights(true);
await rank();
await readPages();
for (let round = 0; round < rounds; round += 1) {
  for (const isOn of [false, true]) {
    await setWeights(isOn);
    for (const kind of KINDS) {
      const cost = kind === 'page' ? await readPages() : await rank();
      if (cost.weighed > 0) throw new Error(`${cost.weighed} days were weighed`);
      note(`${kind} ${isOn}`, cost);
    }
  }
}
const of = (name: string, figure: 'ms' | 'cpuMs') =>
  median((costs.get(name) ?? []).map((cost) => cost[figure]));
for (const kind of KINDS) {
  const [ms, cpu] = (['ms', 'cpuMs'] as const).map((figure) => {
    const [on, off] = [of(`${kind} true`, figure), of(`${kind} false`, figure)];
    return `${on.toFixed(1)} : ${off.toFixed(1)} ms (${(on / off).toFixed(2)})`;
  });
  console.log(`${kind}: with weights : without ${ms}; processor time ${cpu}`);
}

const inserted = await addVotes();
await deps.voteCounters.updateMany({}, { $unset: { [`weighed.${yesterday.slice(8)}`]: true } });
const once = await rank();
console.log(
  `once a day, ${inserted} votes of ${once.weighed} servers: ${once.ms.toFixed(0)} ms (${(once.ms / of('none new true', 'ms')).toFixed(2)} of a ranking with none new), processor time ${once.cpuMs.toFixed(0)} ms (${(once.cpuMs / of('none new true', 'cpuMs')).toFixed(2)})`,
);
await environment.close();
process.exit();
