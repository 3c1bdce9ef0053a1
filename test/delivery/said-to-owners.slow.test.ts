import net, { type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { listenerJson } from '../../src/cli/listener-view.ts';
import { timelineJson } from '../../src/cli/timeline.ts';
import { showListener } from '../../src/delivery/change-listener.ts';
import { diagnoseForOwner, diagnoseListener } from '../../src/delivery/diagnosis/diagnose-listener.ts';
import { createVoteSender, type SendVote } from '../../src/delivery/send-vote.ts';
import { statusText } from '../../src/delivery/timeline/status-text.ts';
import { voteTimeline } from '../../src/delivery/timeline/vote-timeline.ts';
import { inLanguage } from '../../src/language/language.ts';
import { RENEW_MS } from '../../src/listeners/delivery-limits.ts';
import { listenerNotification } from '../../src/notifications/listener-text.ts';
import { HOUR } from '../../src/platform/clock.ts';
import { diagnosisResult } from '../../src/site/dashboard/diagnosis-texts.ts';
import { listenerStateSection } from '../../src/site/shared/listener-state-parts.ts';
import { timelineList } from '../../src/site/shared/timeline-list.ts';
import { type DeliveryBench, deliveryBenchesOfFile, drainHere } from '../support/delivering.ts';
import { listen } from '../support/fake-http-listener.ts';
import { textOf } from '../support/web-app.ts';
import { closing, keyLine, nuVotifier, RIGHT, start, TOKEN } from './known-listeners.ts';

const deliveryBench = deliveryBenchesOfFile();
const impatientBench = deliveryBenchesOfFile({ LISTENER_TIMEOUT_MS: '200' });

/** All that is said of a listener and its newest vote: the owner's pages, JSON of the command line, and the mail. */
async function saidOf({ deps, serverId, clock }: DeliveryBench) {
  const now = clock.now();
  const [listener, shown, server, vote] = await Promise.all([
    deps.listeners.findOne({ serverId }),
    showListener(deps, serverId),
    deps.servers.findOne({ _id: serverId }),
    deps.votes.findOne({ serverId }, { sort: { _id: -1 } }),
  ]);
  if (!listener || !shown || !server || !vote) throw new Error('nothing to show');
  const timeline = await voteTimeline(deps, vote, listener, now);
  const deliveries = { waiting: 1, arrived: 0, lost: 0 };
  const { mail } = listenerNotification(
    { listener, server, deliveries } as unknown as Parameters<typeof listenerNotification>[0],
    { kind: listener.pause ? 'paused' : 'unreachable', since: now } as Parameters<
      typeof listenerNotification
    >[1],
  );
  return {
    page: textOf(String(await listenerStateSection({ listener: shown, queuePaused: false }, '/x', now))),
    timeline: textOf(String(await timelineList(timeline.events))),
    json: JSON.stringify(listenerJson({ ...shown, queuePaused: false, unreadable: false, refused: null })),
    timelineJson: JSON.stringify(timelineJson({ vote, timeline, server, queuePaused: false, now })),
    mail: mail().paragraphs.join('\n'),
  };
}

const drainThrice = async (bench: DeliveryBench) => {
  for (let n = 0; n < 3; n += 1) {
    await bench.drain();
    bench.clock.move(HOUR);
  }
};

it.each([
  [
    'bad-signature',
    'wrong',
    nuVotifier(),
    'Copy the token for our service name “Alpha & Söhne”, or for “default”',
  ],
  [
    'unknown-service',
    TOKEN,
    nuVotifier({ tokens: { elsewhere: TOKEN } }),
    'Add a token for our service name “Alpha & Söhne”, or one for “default”',
  ],
])('%s names our service name wherever it is said', async (code, token, plugin, advice) => {
  const bench = await deliveryBench();
  const secret = token === TOKEN ? TOKEN : 'an0ther-t0ken-0123456789';
  await bench.set({ port: await start(plugin), secret, serviceName: 'Alpha & Söhne' });
  await bench.cast('Steve');
  await bench.drain();
  for (const [where, text] of Object.entries(await saidOf(bench))) {
    expect(text.replaceAll('&amp;', '&'), where).toContain(advice);
    expect(text, where).not.toMatch(/for our service name[ ,.](?!“)/);
  }
  const deps = { ...bench.deps, send: createVoteSender(bench.deps.config) };
  const diagnosis = await diagnoseListener(deps, bench.serverId);
  const asJson = JSON.parse(JSON.stringify(await diagnoseForOwner(deps, bench.serverId)));
  const tested = { protocol: 'votifier-v2', serviceName: 'Alpha & Söhne' } as const;
  const result = textOf(String(await diagnosisResult(asJson.diagnosis, tested)));
  expect(result.replaceAll('&amp;', '&')).toContain(advice);
  expect(diagnosis).toMatchObject({ fault: code });
  const german = await inLanguage('de', async () => (await saidOf(bench)).page);
  expect(german).toMatch(/Dienstnamen „Alpha (&amp;|&) Söhne“/);
});

/** A service that answers each line as `answer` says. `lines`: all that it was sent. */
async function service(answer: (line: string) => string | null) {
  const lines: string[] = [];
  const port = await listen(
    net.createServer((socket: Socket) => {
      socket.on('data', (bytes) => {
        for (const line of bytes.toString('latin1').split('\r\n').filter(Boolean)) {
          lines.push(line);
          const said = answer(line);
          if (said !== null && !socket.destroyed) socket.write(said);
        }
      });
    }),
  );
  return { port, lines };
}

const redis = (line: string) =>
  /^[A-Z]+ /.test(line) ? `-ERR unknown command '${line.split(' ')[0]}'\r\n` : null;

it.each([
  ['a Redis', redis, /Something other than a Votifier listener answers/],
  [
    'a Redis that answers the PROXY line only',
    (line: string) => (line.startsWith('PROXY') ? "-ERR unknown command 'PROXY'\r\n" : null),
    /Something other than a Votifier listener answers/,
  ],
  [
    'a website',
    (line: string) => (line.startsWith('GET ') ? 'HTTP/1.0 400 Bad Request\r\n\r\n' : null),
    /A website answers here, not a vote listener/,
  ],
])('%s in place of a listener is named once votes met its silence, without its words', async (_what, answer, cause) => {
  const bench = await impatientBench();
  const { port, lines } = await service(answer);
  await bench.set({ port });
  await bench.cast('Steve');
  await drainThrice(bench);
  const said = await saidOf(bench);
  for (const [where, text] of Object.entries(said)) {
    expect(text, where).toMatch(cause);
    expect(text, where).not.toMatch(/took the connection and then said nothing|-ERR/);
  }
  // Once for these settings, however many tests follow.
  const asked = lines.length;
  expect(asked).toBeGreaterThan(0);
  await drainThrice(bench);
  expect(lines).toHaveLength(asked);
  await bench.set({ port });
  expect((await saidOf(bench)).timeline).toMatch(/took the connection and then said nothing/);
});

it('a listener that has taken a vote and then hangs is sent nothing but votes', async () => {
  const bench = await impatientBench();
  let received = 0;
  let hangs = false;
  const plugin = nuVotifier();
  const inner = await start(plugin);
  const port = await listen(
    net.createServer((socket) => {
      socket.on('data', (bytes) => {
        if (hangs) received += bytes.length;
      });
      if (hangs) return;
      const through = net.connect(inner, '127.0.0.1').on('error', () => socket.destroy());
      socket.pipe(through).pipe(socket);
    }),
  );
  await bench.set({ port, secret: TOKEN });
  await bench.cast('Steve');
  await bench.drain();
  hangs = true;
  await bench.cast('Alex');
  await drainThrice(bench);
  expect((await saidOf(bench)).page).toMatch(/though it has taken votes before: the vote plugin hangs/);
  expect(received).toBe(0);
});

it('a test stores what it detected, and a later one that is greeted forgets it', async () => {
  const bench = await impatientBench();
  const { deps, serverId } = bench;
  const detected = async () => (await deps.listeners.findOne({ serverId }))?.detected?.service;
  await bench.set({ port: (await service(redis)).port });
  const test = async () => {
    await diagnoseListener({ ...deps, send: createVoteSender(deps.config) }, serverId);
    return detected();
  };
  expect(await test()).toBe('other-protocol');
  const { port } = bench.listener;
  await deps.listeners.updateOne({ serverId }, { $set: { port } });
  expect(await test()).toBeUndefined();
});

it('names beyond ASCII in Votifier v1: said once, with the first vote and on the page, until v2 is set', async () => {
  const bench = await deliveryBench();
  const { deps, serverId, clock } = bench;
  const note = /may arrive mangled: many Votifier v1 listeners take only ASCII; v2 keeps/;
  const inTimelines = async () => {
    const listener = await deps.listeners.findOne({ serverId });
    const votes = await deps.votes.find({ serverId }).sort({ _id: 1 }).toArray();
    const timelines = votes.map((vote) => voteTimeline(deps, vote, listener, clock.now()));
    const dots = { on: () => '…', next: () => '…' };
    return (await Promise.all(timelines)).map((one) => note.test(statusText(one.status, dots, false, one)));
  };
  await bench.set({ protocol: 'votifier-v1', port: await start(closing('1.9')), secret: keyLine(RIGHT) });
  await bench.cast('Steve');
  await bench.drain();
  expect((await saidOf(bench)).page).not.toMatch(note);
  for (const name of ['Jürgen', 'Łukasz']) {
    await bench.cast(name);
    await bench.drain();
  }
  expect(await inTimelines()).toEqual([false, true, false]);
  const said = await saidOf(bench);
  expect(said.page).toMatch(note);
  expect(said.json).toContain('"names_may_be_mangled":true');
  await bench.set({ port: await start(nuVotifier()), secret: TOKEN });
  await bench.cast('Zoë');
  await bench.drain();
  expect(await inTimelines()).toEqual([false, false, false, false]);
  expect((await saidOf(bench)).page).not.toMatch(note);
});

it('a detection that a limit, the end of the worker or a refused address cuts short is made again by a later drain', async () => {
  const bench = await deliveryBench({ LISTENER_TIMEOUT_MS: '200', DESTINATION_LIMIT: '1' });
  const { deps, serverId } = bench;
  const { port, lines } = await service(redis);
  await bench.set({ port });
  await bench.cast('Steve');
  await drainThrice(bench);
  const stored = () => deps.listeners.findOne({ serverId });
  expect((await stored())?.breaker.openSince).toBeTruthy();
  const unlimited = { ...deps, config: { ...deps.config, DESTINATION_LIMIT: 60 } };
  await drainHere(unlimited, serverId, { stop: AbortSignal.abort() });
  // The address is not allowed any more.
  const config = { ...unlimited.config, ALLOWED_PRIVATE_RANGES: [] };
  await drainHere({ ...deps, config }, serverId, {}, createVoteSender(unlimited.config));
  expect([(await stored())?.detected, lines]).toEqual([undefined, []]);
  await drainHere(unlimited, serverId);
  expect((await stored())?.detected?.service).toBe('other-protocol');
});

it('a listener that took a test vote and then hangs is sent nothing but votes', async () => {
  const bench = await impatientBench();
  const { port, lines } = await service(redis);
  await bench.set({ port });
  const { deps, serverId, clock } = bench;
  await deps.listeners.updateOne(
    { serverId },
    { $set: { tested: { at: clock.now(), code: 'acknowledged' } } },
  );
  await bench.cast('Steve');
  await drainThrice(bench);
  expect((await deps.listeners.findOne({ serverId }))?.breaker.openSince).toBeTruthy();
  expect(lines).toEqual([]);
  // Its port is right, so nothing that is said doubts it.
  for (const [where, text] of Object.entries(await saidOf(bench))) {
    expect(text, where).toMatch(/though it has taken votes before: the vote plugin hangs/);
    expect(text, where).not.toContain('Check that the port');
  }
});

it('a worker that lost the lease leaves the detection to the one that has it', async () => {
  const bench = await impatientBench();
  const { deps, serverId } = bench;
  const { port, lines } = await service(redis);
  await bench.set({ port });
  await bench.cast('Steve');
  for (let n = 0; n < 2; n += 1) {
    await bench.drain();
    bench.clock.move(HOUR);
  }
  // The third failure opens the breaker; during that attempt another worker takes the lease.
  const send = createVoteSender(deps.config);
  const losing: SendVote = async (...given) => {
    const end = await send(...given);
    const lease = { owner: 'another worker', until: new Date(Date.now() + HOUR) };
    await deps.listeners.updateOne({ serverId }, { $set: { lease } });
    await pause(RENEW_MS);
    return end;
  };
  await drainHere(deps, serverId, {}, losing);
  expect(lines).toEqual([]);
});
