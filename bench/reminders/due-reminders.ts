/**
 * Measures how a worker sends reminders that are all due, and votes of the API beside it, in turn with votes alone.
 *
 *   node bench/reminders/due-reminders.ts [reminders] [push services] [votes a second] [rounds] [ms until an answer]
 *
 *   node bench/reminders/due-reminders.ts 100000 4 50 1 5
 *
 * Each reminder is about three votes of a player, of 100 servers, whose cooldown is over. The reminders are spread evenly
 * over the push services, which are ports of one process; their subscriptions name 127.0.0.1, which needs no look-up of a
 * name. With 0 votes a second it prints the commands of mongod for a reminder. The time of a vote is measured from the
 * moment at which it was due (open loop). All share one machine.
 */
import { fork } from 'node:child_process';
import { createECDH, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { ObjectId } from 'mongodb';
import { after, HOUR, MINUTE, SECOND } from '../../src/platform/clock.ts';
import { readPushKey } from '../../src/reminders/read-push-key.ts';
import { contextOfReminder, type Reminder, reminderId } from '../../src/reminders/reminder.ts';
import { addServer } from '../../src/servers/listed-servers.ts';
import { newVoteId } from '../../src/votes/cast/cast-vote.ts';
import { storedVote } from '../../test/support/votes.ts';
import { type Caller, callersOf, castVote } from '../delivery/api-client.ts';
import { cpuSeconds, openEnvironment, residentMb } from '../delivery/environment.ts';
import { against, median, quantile, until, watchCommands, watchMemory } from '../delivery/figures.ts';
import type { Received } from './push-services.ts';

const [reminders = 100_000, services = 4, rate = 50, rounds = 1, answerMs = 5] = process.argv
  .slice(2)
  .map(Number);
const SERVERS = 100;
const VOTES_OF_PLAYER = 3;
const BATCH = 5_000;
/** Without votes, only the CPU use at rest is measured. */
const ALONE_SECONDS = rate > 0 ? 30 : 5;
/** How long ago the votes were cast. */
const VOTED_MS = 25 * HOUR;
/** Reminders wait for the morning in each zone. In some of these it is day. */
const ZONES = [
  'Europe/Berlin',
  'Asia/Kolkata',
  'Asia/Tokyo',
  'Pacific/Auckland',
  'America/New_York',
  'America/Los_Angeles',
];

console.log(`node bench/reminders/due-reminders.ts ${process.argv.slice(2).join(' ')}`);
const authority = fileURLToPath(new URL('../../test/support/certificates/authority.pem', import.meta.url));
const environment = await openEnvironment({
  PUBLIC_URL: 'https://listing.example',
  NODE_EXTRA_CA_CERTS: authority,
});
const { deps } = environment;
const far = fork(fileURLToPath(new URL('push-services.ts', import.meta.url)), [`${services}`, `${answerMs}`]);
let received = (await once(far, 'message'))[0] as Received;
far.on('message', (message) => {
  received = message as Received;
});
const servers: ObjectId[] = [];
for (let n = 0; n < SERVERS; n += 1) {
  const server = { name: `server ${n}`, address: `s${n}.example.org`, port: 25_565 };
  servers.push(new ObjectId((await addServer(deps, server, 'bench')).serverId));
}
const callers = await callersOf(deps, servers);
await storeReminders();
const web = await environment.web();
const worker = await environment.worker();
await environment.program('workers/scheduler.ts');
const PROCESSES = { worker: worker.pid, mongod: environment.mongodPid, web: web.pid };
type Seconds = Record<keyof typeof PROCESSES, number>;

async function storeReminders(): Promise<void> {
  const votedAt = after(new Date(), -VOTED_MS);
  const publicKey = await readPushKey(deps);
  // All browsers have one key pair: to encrypt for it costs the same.
  const p256dh = createECDH('prime256v1').generateKeys('base64url');
  const zones = ZONES.filter((zone) => isDay(zone));
  for (let from = 0; from < reminders; from += BATCH) {
    const votes = [];
    const documents: Reminder[] = [];
    for (let n = from; n < Math.min(reminders, from + BATCH); n += 1) {
      const own = Array.from({ length: VOTES_OF_PLAYER }, (_, i) =>
        storedVote(servers[(n + 7 * i) % SERVERS] as ObjectId, `player${n}`, votedAt, {
          _id: newVoteId(votedAt),
        }),
      );
      const host = `127.0.0.1:${received.ports[n % services]}`;
      const endpoint = `https://${host}/push/${randomBytes(100).toString('base64url')}`;
      const subscription = { endpoint, p256dh, auth: randomBytes(16).toString('base64url') };
      const _id = reminderId(endpoint);
      votes.push(...own);
      documents.push({
        _id,
        sealed: deps.secrets.seal(JSON.stringify(subscription), contextOfReminder(_id)),
        host,
        publicKey,
        language: 'en',
        timeZone: zones[n % zones.length] ?? 'UTC',
        votes: own.map((vote) => vote._id),
        dueAt: null,
        failures: 0,
        usedAt: votedAt,
        createdAt: votedAt,
      });
    }
    await deps.votes.insertMany(votes, { ordered: false });
    await deps.reminders.insertMany(documents, { ordered: false });
  }
}

function isDay(timeZone: string): boolean {
  const format = new Intl.DateTimeFormat('en', { timeZone, hour: 'numeric', hourCycle: 'h23' });
  const hour = Number(format.format());
  return hour >= 9 && hour < 20;
}

async function cpu(): Promise<Seconds> {
  const used = Object.entries(PROCESSES).map(async ([name, pid]) => [name, await cpuSeconds(pid)]);
  return Object.fromEntries(await Promise.all(used));
}

type Measured = { times: number[]; seconds: number; used: Seconds };

/** Casts votes at the rate, for all servers in turn, until `ended`. */
async function castUntil(ended: () => boolean): Promise<Measured> {
  const name = new ObjectId().toHexString().slice(-16);
  const times: number[] = [];
  const sent: Promise<void>[] = [];
  const before = await cpu();
  const began = performance.now();
  for (let n = 0; !ended(); n += 1) {
    const due = began + (rate > 0 ? (n * SECOND) / rate : n * 100);
    await pause(Math.max(0, due - performance.now()));
    if (rate === 0) continue;
    const caller = callers[n % SERVERS] as Caller;
    sent.push(castVote(web.url, caller, `${name}${n}`).then(() => void times.push(performance.now() - due)));
  }
  const seconds = (performance.now() - began) / SECOND;
  await Promise.all(sent);
  const used = await cpu();
  for (const process of Object.keys(used) as (keyof Seconds)[]) used[process] -= before[process];
  return { times, seconds, used };
}

async function alone(): Promise<Measured> {
  const end = performance.now() + ALONE_SECONDS * SECOND;
  return castUntil(() => performance.now() >= end);
}

type Sent = Measured & { sendingSeconds: number };

/** Lets all reminders be due, and waits until each was sent or is to be tried again later. */
async function sending(): Promise<Sent> {
  const due = { dueAt: after(new Date(), -MINUTE), failures: 0 };
  await deps.reminders.updateMany({}, { $set: due, $unset: { sentAt: '' } });
  const began = performance.now();
  let sendingSeconds = 0;
  // Runs end after 50 s; the scheduler begins one each minute.
  await deps.producer.add('send-reminders', {});
  const note = async () => {
    await until(async () => !(await isAnyOpen()));
    sendingSeconds = (performance.now() - began) / SECOND;
  };
  const [measured] = await Promise.all([castUntil(() => sendingSeconds > 0), note()]);
  return { ...measured, sendingSeconds };
}

/** Due or under way. */
async function isAnyOpen(): Promise<boolean> {
  const open = { dueAt: { $type: 'date' }, failures: 0 } as const;
  return (await deps.reminders.findOne(open, { projection: { _id: 1 } })) !== null;
}

const shown = ({ times }: Measured) =>
  `p50 ${median(times).toFixed(2)} ms, p99 ${quantile(times, 0.99).toFixed(1)} ms`;

const ratios = { p50: [] as number[], p99: [] as number[] };
const memory = watchMemory({ worker: [worker.pid] });
const watching = setInterval(() => void memory.measure().catch(() => undefined), SECOND / 2);
try {
  await alone();
  let before = await alone();
  const atRest = await residentMb(worker.pid);
  for (let round = 1; round <= rounds; round += 1) {
    const commands = await watchCommands(deps);
    const earlier = received.messages;
    const beside = await sending();
    const ofReminder = await commands(reminders);
    const { sendingSeconds, used, seconds } = beside;
    const next = await alone();
    const messages = received.messages - earlier;
    console.log(
      `round ${round}: ${messages} sent in ${sendingSeconds.toFixed(1)} s, ${(messages / sendingSeconds).toFixed(0)} a second, at most ${received.open} at once`,
    );
    const both = [before, next];
    const idle = (process: keyof Seconds) =>
      both.reduce((sum, one) => sum + one.used[process], 0) / both.reduce((sum, one) => sum + one.seconds, 0);
    const cost = (process: keyof Seconds) =>
      `${process} ${((1_000 * (used[process] - seconds * idle(process))) / messages).toFixed(2)} s`;
    console.log(
      `CPU of 1,000 reminders, without that of votes alone: ${cost('worker')}, ${cost('mongod')}, ${cost('web')}; the worker used ${((100 * used.worker) / seconds).toFixed(0)} % of a core`,
    );
    if (rate === 0) console.log(`for each reminder: ${ofReminder}`);
    else {
      console.log(`votes alone: ${shown(before)}; beside: ${shown(beside)}; alone again: ${shown(next)}`);
      const times = both.flatMap((one) => one.times);
      ratios.p50.push(median(beside.times) / median(times));
      ratios.p99.push(quantile(beside.times, 0.99) / quantile(times, 0.99));
    }
    before = next;
  }
  const [p50, p99] = [median(ratios.p50), median(ratios.p99)];
  if (rate > 0)
    console.log(
      `votes, beside ÷ alone: p50 ${p50.toFixed(2)} ${against('≤ 1.05', p50 <= 1.05)}, p99 ${p99.toFixed(2)} ${against('≤ 1.5', p99 <= 1.5)}`,
    );
  console.log(`${memory.shown()}, ${atRest.toFixed(0)} MB at rest`);
  const metrics = await (await fetch(worker.metricsUrl)).text();
  const ends = metrics.matchAll(/^tallyport_reminders_total\{end="([^"]+)"\} ([1-9]\d*)/gm);
  console.log(`ends: ${[...ends].map(([, end, count]) => `${count} ${end}`).join(', ')}`);
} finally {
  clearInterval(watching);
  far.disconnect();
  await environment.close();
}
