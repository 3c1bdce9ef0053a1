import { ObjectId } from 'mongodb';
import { expect, it, vi } from 'vitest';
import { putMail } from '../../src/mail/outbox.ts';
import { after, DAY, HOUR, MINUTE, SECOND } from '../../src/platform/clock.ts';
import { addDays, dayOf, startOfDay } from '../../src/platform/periods/period-marks.ts';
import { voteFigures } from '../../src/votes/vote-figures.ts';
import { insert, listServer, probe } from '../history/samples.ts';
import { listServer as listGame, startGameServer } from '../probing/probing-bench.ts';
import { setCounters } from '../ranking/ranked-servers.ts';
import { EVENTUALLY } from '../support/eventually.ts';
import { excludeVotes } from '../support/exclusions.ts';
import { startMailServer } from '../support/fake-mail-server.ts';
import { testDeps } from '../support/test-deps.ts';
import { storedVote } from '../support/votes.ts';
import { spawnWorker } from '../support/worker-process.ts';
import { startScheduler, startWorker } from '../support/workers.ts';

/** The leases of a killed worker expire within seconds. */
const SETTINGS = { ALLOWED_PRIVATE_RANGES: '127.0.0.0/8', LISTENER_TIMEOUT_MS: '300', LEASE_MS: '3200' };

it('another worker completes the day of a worker that was killed half-way', async () => {
  const deps = await testDeps(SETTINGS);
  // The newest day that is due: it ended at least 10 minutes ago.
  const day = addDays(dayOf(after(new Date(), -10 * MINUTE)), -1);
  const first = await listServer(deps);
  const listed = { $set: { listedAt: startOfDay(day) } };
  const model = await deps.servers.findOneAndUpdate({ _id: first }, listed, { returnDocument: 'after' });
  if (!model) throw new Error('not listed');
  const others = Array.from({ length: 2_999 }, (_, i) => ({
    ...model,
    _id: new ObjectId(),
    slug: `server-${i}`,
    slugs: [`server-${i}`],
  }));
  await deps.servers.insertMany(others);
  const all = [first, ...others.map(({ _id }) => _id)];
  await insert(
    deps,
    all.map((serverId) => probe(serverId, after(startOfDay(day), HOUR))),
  );
  const computed = () => deps.dailyStats.countDocuments();
  const marked = () => deps.periodMarks.countDocuments({ work: 'aggregate-day', period: day });

  const killed = await spawnWorker(deps.config, { args: ['aggregate-day'] });
  await deps.queues['aggregate-day'].add('Aggregate day', { day });
  await vi.waitFor(async () => expect(await computed()).toBeGreaterThan(0), { ...EVENTUALLY, interval: 1 });
  await killed.kill();
  const half = await computed();
  expect(half).toBeGreaterThan(0);
  expect(half).toBeLessThan(all.length);
  expect(await marked()).toBe(0);

  await startWorker(deps.config, { args: ['aggregate-day'] });
  await startScheduler(deps.config);
  await vi.waitUntil(async () => (await marked()) === 1, EVENTUALLY);
  expect(await deps.dailyStats.countDocuments({ 'probes.onlineSeconds': 300 })).toBe(all.length);
  const figured = await deps.servers.countDocuments({ 'daily.uptimePercentage': 100 });
  expect(figured).toBe(all.length);
});

it('removes the names of old votes even if a worker was killed half-way', async () => {
  const deps = await testDeps({ ...SETTINGS, KEEP_PLAYER_NAMES_MONTHS: '3' });
  const serverId = await listServer(deps);
  const day = dayOf(new Date());
  const votes = 6_000;
  const votedAt = (i: number) => after(startOfDay(addDays(day, -200)), i * SECOND);
  await deps.votes.insertMany(
    Array.from({ length: votes }, (_, i) => storedVote(serverId, `player-${i}`, votedAt(i))),
  );
  const nameless = () => deps.votes.countDocuments({ serverId, username: '(erased)' });
  const marked = () => deps.periodMarks.countDocuments({ work: 'clean-up', period: day });

  const killed = await spawnWorker(deps.config, { args: ['clean-up'] });
  await deps.queues['clean-up'].add('Clean up', { day });
  await vi.waitFor(async () => expect(await nameless()).toBeGreaterThan(0), { ...EVENTUALLY, interval: 1 });
  await killed.kill();
  expect(await nameless()).toBeLessThan(votes);
  expect(await marked()).toBe(0);

  await startWorker(deps.config, { args: ['clean-up'] });
  await startScheduler(deps.config);
  await vi.waitUntil(async () => (await marked()) === 1, EVENTUALLY);
  expect(await nameless()).toBe(votes);
  expect(new Set(await deps.votes.distinct('usernameKey')).size).toBe(votes);
});

it('another worker finishes the exclusion of a worker that was killed half-way', async () => {
  const deps = await testDeps(SETTINGS);
  const serverId = await listServer(deps);
  const day = addDays(dayOf(new Date()), -2);
  const noon = after(startOfDay(day), 12 * HOUR);
  await deps.votes.insertMany(
    Array.from({ length: 30_000 }, (_, i) => storedVote(serverId, `player-${i}`, noon)),
  );
  await setCounters(deps, serverId, { [day]: 30_000 });
  // The exclusion was requested, and interrupted before anything was done.
  const stopped = new AbortController();
  const request = { serverId, since: startOfDay(day), until: after(startOfDay(day), DAY), tokenId: null };
  const begun = excludeVotes(deps, { ...request, reason: 'A flood' }, 'someone', {
    signal: stopped.signal,
    progress: () => stopped.abort(),
  });
  await expect(begun).rejects.toThrow();
  const marked = () => deps.votes.countDocuments({ serverId, excludedAt: { $gt: new Date(0) } });
  const exclusion = () => deps.voteExclusions.findOne({ serverId });
  expect((await exclusion())?.state).toBe('excluding');

  const first = await marked();
  const killed = await spawnWorker(deps.config, { args: ['exclude-votes'] });
  await startScheduler(deps.config);
  await vi.waitFor(async () => expect(await marked()).toBeGreaterThan(first), EVENTUALLY);
  await killed.kill();
  const half = await marked();
  expect(half).toBeLessThan(30_000);
  expect((await exclusion())?.state).toBe('excluding');

  await startWorker(deps.config, { args: ['exclude-votes'] });
  await vi.waitFor(
    async () => expect(await exclusion()).toMatchObject({ state: 'excluded', votes: 30_000 }),
    {
      ...EVENTUALLY,
      timeout: 40 * SECOND,
    },
  );
  expect((await voteFigures(deps, serverId)).allTimeVotes).toBe(0);
  expect(await deps.auditLog.countDocuments({ action: 'vote.exclude' })).toBe(1);
}, 90_000);

it('another worker finishes the probe of a killed worker, and it counts once', async () => {
  const deps = await testDeps(SETTINGS);
  const far = await startGameServer();
  far.manner = { silent: true };
  const serverId = await listGame(deps, far.port);
  const [killed] = await Promise.all([spawnWorker(deps.config), startScheduler(deps.config)]);
  await vi.waitFor(() => expect(far.asked).toBe(1), EVENTUALLY);
  await killed.kill();
  far.manner = {};
  await startWorker(deps.config);
  await vi.waitFor(async () => {
    const samples = await deps.statusSamples.find({ serverId }).toArray();
    expect(samples.map(({ status }) => status)).toEqual(['online']);
  }, EVENTUALLY);
});

it('another worker sends the mail of a killed worker, and mails whose job was lost are found', async () => {
  const server = await startMailServer();
  const sender = 'Tallyport <votes@example.org>';
  const deps = await testDeps({ ...SETTINGS, SMTP_URL: server.url, MAIL_FROM: sender });
  server.behaviour = { silentAfterText: true };
  await putMail(deps, { to: 'olivia@example.org', subject: 'Your server', text: 'It is back.' });
  const mail = () => deps.mails.findOne({});
  const worker = await spawnWorker(deps.config, { args: ['send-mail'] });
  await vi.waitUntil(() => server.received.length === 1, EVENTUALLY);
  await worker.kill();
  server.behaviour = {};
  await deps.mails.updateOne({}, { $set: { leaseUntil: new Date(0) } });
  // Redis no longer has a job for this mail.
  await deps.queues['send-mail'].obliterate({ force: true });
  await startWorker(deps.config, { args: ['send-mail'] });
  await startScheduler(deps.config);
  await vi.waitUntil(() => server.received.length === 2, EVENTUALLY);
  await vi.waitUntil(async () => (await mail())?.sentAt, EVENTUALLY);
  expect((await mail())?.attempts).toBe(2);
});
