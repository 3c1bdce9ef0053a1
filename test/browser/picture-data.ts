import { setTimeout as pause } from 'node:timers/promises';
import type { ObjectId, UUID } from 'mongodb';
import { setListener } from '../../src/delivery/change-listener.ts';
import { drainListener } from '../../src/delivery/drain/drain-listener.ts';
import { createVoteSender, openListener } from '../../src/delivery/send-vote.ts';
import { listSample } from '../../src/demo/list-samples.ts';
import { messageOf } from '../../src/demo/open-fake-server.ts';
import { type ListedSample, samplePlayersAt } from '../../src/demo/sample-days.ts';
import { countToday, writeSampleHistory, writeSampleReviews } from '../../src/demo/sample-history.ts';
import { sampleIcon } from '../../src/demo/sample-pictures.ts';
import { openSampleUsers, type SampleUsers } from '../../src/demo/sample-users.ts';
import { SAMPLES } from '../../src/demo/samples.ts';
import { VotifierListener } from '../../src/demo/votifier-listener.ts';
import { reportStatus } from '../../src/history/report-status.ts';
import { writeVotes } from '../../src/import-export/import-votes.ts';
import { MAX_CONCURRENT_ATTEMPTS } from '../../src/listeners/delivery-limits.ts';
import { wakeListener } from '../../src/listeners/delivery-queues.ts';
import { after, DAY, MINUTE, SECOND } from '../../src/platform/clock.ts';
import { addDays, dayOf } from '../../src/platform/periods/period-marks.ts';
import { createCanary } from '../../src/probing/canary.ts';
import { checkServer } from '../../src/probing/check-server.ts';
import type { AppDeps } from '../../src/process/app-deps.ts';
import { storeRanks } from '../../src/ranking/rank-snapshots.ts';
import { recomputeRanks } from '../../src/ranking/recompute-ranks.ts';
import { SET_UP_STEPS, setStepClosed } from '../../src/settings/set-up-step.ts';
import { castVote } from '../support/casting.ts';
import { insertWaitingVotes } from '../support/votes.ts';
import { fillInbox } from './sample-inbox.ts';
import type { Ends, StillSite } from './still-site.ts';

/** The moment that the pictures show: a Saturday evening. */
export const SHOWN_AT = new Date('2026-06-13T18:40:00Z');

/** The server whose pages are shown. */
const SHOWN = 'Harbour Lights';

/** Players who voted for the shown server each day, and how often. */
const LOYAL = { Steve: 6, Zuri: 12 };

/** What the pictures show, besides pages with fixed addresses. */
export type PictureData = {
  users: SampleUsers;
  harbour: ObjectId;
  /** A vote that the listener took at the third attempt. */
  explained: UUID;
  /** A vote that arrived at once. */
  arrived: UUID;
};

/** Fills the listing with the demo's servers. No peer is asked: each status is the one that its fake server would give. */
export async function fillForPictures(site: StillSite, ends: Ends): Promise<PictureData> {
  const { deps, clock, work } = site;
  work('encode-pictures');
  const listed = await listSamples(deps);
  const [harbour] = listed as [ListedSample];
  await Promise.all(listed.map((one) => fillPast(deps, one)));
  for (let ago = 30; ago > 0; ago--) await storeRanks(deps, addDays(dayOf(SHOWN_AT), -ago), null);
  const owned = listed.slice(0, 3).map(({ serverId }) => serverId);
  const users = await openSampleUsers(deps, owned);
  for (const step of SET_UP_STEPS) await setStepClosed(deps, { step, isClosed: true, by: 'demo' });
  clock.move(-25 * MINUTE);
  await fillInbox(deps, {
    harbour: idOf(listed, 'Nightfall Prison'),
    long: idOf(listed, 'Ironvale Anarchy'),
    rightToLeft: idOf(listed, 'Outback Factions'),
  });
  clock.set(after(SHOWN_AT, -2 * MINUTE));
  const votes = await voteForShown(site, harbour.serverId, ends);
  clock.set(SHOWN_AT);
  while (await deps.pictureUploads.countDocuments()) await pause(20);
  await deps.voteCounts.flush();
  await recomputeRanks(deps);
  return { users, harbour: harbour.serverId, ...votes };
}

function idOf(listed: ListedSample[], name: string): ObjectId {
  const found = listed.find(({ sample }) => sample.name === name);
  if (!found) throw new Error(`there is no sample ${name}`);
  return found.serverId;
}

/** Lists the servers, with the answer of each to a probe, or its report. */
async function listSamples(deps: AppDeps): Promise<ListedSample[]> {
  const listed: ListedSample[] = [];
  for (const [index, sample] of SAMPLES.entries()) {
    const address = `${index === 0 ? 'play.harbour.example' : `server-${index + 1}.example`}`;
    const at = { address, port: sample.port ?? 25_565, queryPort: null };
    listed.push(await listSample(deps, new Map(), sample, at));
  }
  for (const { serverId, sample } of listed) {
    const { activity, version, kind, game } = sample;
    const status = {
      onlinePlayers: samplePlayersAt(sample, deps.clock.now()),
      maxPlayers: activity.slots,
      motd: messageOf(sample),
      version,
    };
    if (kind === 'reporting') await reportStatus(deps, serverId, status);
    const server = await deps.servers.findOne({ _id: serverId });
    if (kind !== 'probed' || !server) continue;
    const icon = game === 'minecraft' ? { icon: await sampleIcon(sample.name) } : {};
    const ask = async () => ({ ok: true, answer: { ...status, latencyMs: 24, ...icon } }) as const;
    await checkServer({ ...deps, ask, canary: createCanary({ ...deps, ask }) }, server);
  }
  return listed;
}

async function fillPast(deps: AppDeps, one: ListedSample): Promise<void> {
  const { serverId, sample } = one;
  for (const [username, times] of Object.entries(sample.name === SHOWN ? LOYAL : {})) {
    const votes = Array.from({ length: times }, (_, ago) => {
      return { serverId, username, votedAt: after(SHOWN_AT, -(ago + 1) * (DAY + 20 * MINUTE)) };
    });
    await writeVotes(deps, votes);
  }
  await writeSampleHistory(deps, [one]);
  await countToday(deps, [one]);
  await writeSampleReviews(deps, one);
}

/** Casts a vote that is refused twice, because the listener is down, and then taken; and one that arrives at once. */
async function voteForShown(
  { deps, clock }: StillSite,
  serverId: ObjectId,
  ends: Ends,
): Promise<Pick<PictureData, 'explained' | 'arrived'>> {
  const listener = new VotifierListener();
  await listener.start();
  ends.push(() => listener.stop());
  await pointAt(deps, serverId, listener);
  const cast = async (username: string) => {
    const { vote } = await castVote(deps, { serverId, username, tokenId: null });
    return vote._id;
  };
  // Without a vote that arrived, the listener would count as one that was never right.
  await cast('Kai');
  await sendVotes(deps, serverId);
  await listener.stop();
  const explained = await cast('Alex');
  await sendVotes(deps, serverId);
  clock.move(6 * SECOND);
  await sendVotes(deps, serverId);
  await listener.start();
  clock.move(34 * SECOND);
  await sendVotes(deps, serverId);
  const arrived = await cast('Zuri');
  clock.move(SECOND);
  await sendVotes(deps, serverId);
  return { explained, arrived };
}

async function pointAt(deps: AppDeps, serverId: ObjectId, listener: VotifierListener): Promise<void> {
  const { port, token: secret } = listener;
  const address = { protocol: 'votifier-v2', host: '127.0.0.1', port, secret } as const;
  await setListener(deps, serverId, { ...address, serviceName: 'Tallyport' }, 'demo');
}

/** Sends the due votes of a server, as workers do. */
export async function sendVotes(deps: AppDeps, serverId: ObjectId): Promise<void> {
  const never = new AbortController().signal;
  const open = (found: Parameters<typeof openListener>[1]) => openListener(deps.secrets, found);
  const drain = { ...deps, send: createVoteSender(deps.config), open };
  const options = { stop: never, waitNoLonger: never, budgetMs: 20 * SECOND };
  let end = await drainListener(drain, serverId, { ...options, queue: 'forward-votes' });
  while (end.kind === 'moved') end = await drainListener(drain, serverId, { ...options, queue: end.to });
}

/**
 * Starts the delivery, with one listener that is down, one that is tested and silent, and one that drains a backlog and
 * keeps the votes that it got. Nothing changes afterwards.
 */
export async function fillQueues({ deps, work }: StillSite, ends: Ends): Promise<void> {
  // Before there are votes: the first sweep finds none, so only the jobs below are in the queues.
  work('forward-votes');
  const down = new VotifierListener();
  const silent = new VotifierListener();
  silent.behaviour = { onConnect: 'silence' };
  const slow: VotifierListener = new VotifierListener({
    onVote() {
      if (slow.votes.length > 8) slow.stall();
    },
  });
  const all = [down, silent, slow];
  // Before the workers stop: an attempt that waits for an answer ends when its connection does.
  ends.push(() => Promise.all(all.map((listener) => listener.stop())));
  await Promise.all(all.map((listener) => listener.start()));
  await down.stop();
  const { 'test-listeners': tests, 'drain-backlogs': backlogs } = deps.queues;
  await queueVotes(deps, 'Nightfall Prison', down, 7);
  while ((await tests.getDelayedCount()) === 0) await pause(20);
  await queueVotes(deps, 'Outback Factions', silent, 12);
  while (silent.connections === 0) await pause(20);
  await queueVotes(deps, 'Ironvale Anarchy', slow, 400);
  while (slow.held < MAX_CONCURRENT_ATTEMPTS || (await backlogs.getActiveCount()) === 0) await pause(20);
}

async function queueVotes(
  deps: AppDeps,
  name: string,
  listener: VotifierListener,
  votes: number,
): Promise<void> {
  const server = await deps.servers.findOne({ name });
  if (!server) throw new Error(`${name} is not listed`);
  await pointAt(deps, server._id, listener);
  await insertWaitingVotes(deps, [server._id], votes);
  const set = await deps.listeners.findOne({ serverId: server._id });
  if (!set) throw new Error(`${name} has no listener`);
  await wakeListener(deps.producer, set);
}
