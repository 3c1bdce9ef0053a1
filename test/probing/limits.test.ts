import { createSocket } from 'node:dgram';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { Probe } from '../../src/probing/ask.ts';
import { EVENTUALLY } from '../support/eventually.ts';
import { BedrockServer, JavaServer, SourceServer } from '../support/fake-game-servers.ts';
import { timed, useFastClock } from '../support/fast-clock.ts';
import { answerOf, askHere, at, failureOf, started } from './asking.ts';

/** The open sockets and connections of this process. */
function openSockets(): number {
  return process.getActiveResourcesInfo().filter((name) => /^(TCP|UDP|TLS)/.test(name)).length;
}

describe('UDP queries', () => {
  it('are limited to 128 at once, the others wait for a slot', async () => {
    const ask = askHere();
    const server = await started(new BedrockServer());
    server.manner = { silent: true };
    const probes = Array.from({ length: 200 }, () => ask(at(server.port, 'mbe')));
    await vi.waitFor(() => expect(server.asked).toBe(128), EVENTUALLY);

    server.manner = {};
    // The waiting queries start as the first ones end; those repeat their unanswered requests.
    const ended = await Promise.all(probes);
    expect(ended.map(answerOf)).toHaveLength(200);
    expect(server.asked).toBe(128 + 128 + 72);
  });

  it('do not spend their five seconds on waiting', async () => {
    const ask = askHere();
    const server = await started(new BedrockServer());
    server.manner = { silent: true };
    useFastClock();
    const silent = Array.from({ length: 3 * 128 }, () => ask(at(server.port, 'mbe')));
    const answering = await started(new BedrockServer());
    // Three rounds of two seconds come before it.
    expect(answerOf(await ask(at(answering.port, 'mbe'))).onlinePlayers).toBe(3);
    expect(new Set((await Promise.all(silent)).map(failureOf))).toEqual(new Set(['no-answer']));
  });

  it('that wait end at once when they are stopped, and release their slots', async () => {
    const ask = askHere();
    const server = await started(new BedrockServer());
    server.manner = { silent: true };
    const stopping = new AbortController();
    const probes = Array.from({ length: 300 }, () => ask(at(server.port, 'mbe'), stopping.signal));
    await vi.waitFor(() => expect(server.asked).toBe(128), EVENTUALLY);
    stopping.abort();
    expect(new Set((await Promise.all(probes)).map(failureOf))).toEqual(new Set(['stopped']));
    expect(server.asked).toBe(128);

    server.manner = {};
    const later = Array.from({ length: 200 }, () => ask(at(server.port, 'mbe')));
    // On a machine with other work some answers come too late; all of them had a slot.
    const answered = (await Promise.all(later)).filter(({ ok }) => ok);
    expect(answered.length).toBeGreaterThan(0);
    expect(server.asked).toBeGreaterThanOrEqual(128 + 200);
  });

  it('do not delay queries over TCP', async () => {
    const ask = askHere();
    const silent = await started(new BedrockServer());
    silent.manner = { silent: true };
    const stopping = new AbortController();
    const probes = Array.from({ length: 150 }, () => ask(at(silent.port, 'mbe'), stopping.signal));
    await vi.waitFor(() => expect(silent.asked).toBe(128), EVENTUALLY);
    const server = await started(new JavaServer());
    answerOf(await ask(at(server.port, 'minecraft')));
    expect(silent.asked).toBe(128);
    stopping.abort();
    await Promise.all(probes);
  });
});

describe('A query', () => {
  it.each([
    ['mbe', BedrockServer],
    ['minecraft', JavaServer],
  ] as const)('of %s that is stopped ends at once and closes everything', async (game, Kind) => {
    const ask = askHere();
    const server = await started(new Kind());
    server.manner = { silent: true };
    const before = openSockets();
    const stopping = new AbortController();
    const probe = ask(at(server.port, game), stopping.signal);
    await vi.waitFor(() => expect(server.asked).toBe(1), EVENTUALLY);
    useFastClock();
    stopping.abort();
    const { result, tookMs } = await timed(probe);
    expect(failureOf(result)).toBe('stopped');
    // It waits for no timer: the shortest one runs for 1 s.
    expect(tookMs).toBeLessThan(1_000);
    await vi.waitFor(() => expect(server.open).toBe(0), EVENTUALLY);
    await vi.waitFor(() => expect(openSockets()).toBeLessThanOrEqual(before), EVENTUALLY);
  });

  it('that was stopped before it began sends nothing', async () => {
    const server = await started(new JavaServer());
    const probe = await askHere()(at(server.port, 'minecraft'), AbortSignal.abort());
    expect(failureOf(probe)).toBe('stopped');
    expect(server.asked).toBe(0);
  });

  it('has its whole time after the import of gamedig', async () => {
    const loading = Promise.withResolvers<void>();
    vi.doMock('gamedig', async (importOriginal) => {
      await loading.promise;
      return importOriginal();
    });
    onTestFinished(() => void vi.doUnmock('gamedig'));
    const server = await started(new SourceServer());
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    onTestFinished(() => void vi.useRealTimers());
    // The only game with this protocol that gamedig asks.
    const probe = askHere()({ ...at(server.port, 'battalion1944'), queryPort: server.port });
    // Name look-up and timer would be done by then.
    for (let turn = 0; turn < 10; turn += 1) await nextTurn();
    vi.advanceTimersByTime(6_000);
    loading.resolve();
    expect(answerOf(await probe).onlinePlayers).toBe(3);
  });

  it('leaves nothing open, however it ends', async () => {
    const ask = askHere();
    const before = openSockets();
    const java = await started(new JavaServer());
    const source = await started(new SourceServer());
    const rounds = Array.from({ length: 20 }, (_, turn): Promise<Probe>[] => [
      ask(at(java.port, 'minecraft')),
      ask(at(source.port, 'teamfortress2')),
      ask(at(java.port, 'eco')),
      ask(at(turn + 1, 'mbe')),
    ]);
    const ended = await Promise.all(rounds.flat());
    expect(ended.filter(({ ok }) => ok)).toHaveLength(40);
    await java.stop();
    await source.stop();
    await vi.waitFor(() => expect(openSockets()).toBeLessThanOrEqual(before), EVENTUALLY);
    await java.start();
    await source.start();
  });

  it('receives data only from the queried server', async () => {
    const ask = askHere();
    const server = await started(new BedrockServer());
    server.manner = { silent: true };
    useFastClock();
    const liar = createSocket('udp4');
    onTestFinished(() => void liar.close());
    const from = new Promise<number>((resolve) => {
      server.onRequest = resolve;
    });
    const probe = ask(at(server.port, 'mbe'));
    liar.send(server.usualAnswer(), await from, '127.0.0.1');
    expect(failureOf(await probe)).toBe('no-answer');
  });
});
