import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { issueToken } from '../../src/servers/api-tokens.ts';
import { atTheEnd } from '../support/at-the-end.ts';
import { addFetchingServer } from '../support/fetching.ts';
import { startApp, type TestDeps } from '../support/start-app.ts';
import { configYml, HAS_JAVA, type RunningRelay, relayBench } from './relay-process.ts';

describe.skipIf(!HAS_JAVA)('a relay beside a Votifier v2', () => {
  let bench: Awaited<ReturnType<typeof relayBench>>;
  let relay: RunningRelay;
  beforeAll(async () => {
    bench = await relayBench();
    relay = bench.start();
  });

  test('hands votes over, tells the listing, and logs one line a vote', async () => {
    const vote = bench.api.cast('Alice');
    await expect.poll(() => vote.state).toBe('delivered');
    const many = Array.from({ length: 60 }, (_, index) => bench.api.cast(`Player${index}`));
    await expect.poll(() => many.filter(({ state }) => state === 'delivered').length).toBe(60);

    expect(bench.received()).toEqual(['Alice', ...many.map(({ username }) => username)]);
    expect(bench.listener.votes[0]).toMatchObject({
      protocol: 'v2',
      serviceName: 'Tallyport',
      address: '0.0.0.0',
      timestamp: Date.parse(vote.votedAt),
      uuid: vote.id,
    });
    expect(bench.api.calls[0]?.headers['user-agent']).toMatch(
      /^tallyport-relay\/\d+\.\d+\.\d+ \(Java [\d._]+; standalone\)$/,
    );
    expect(relay.lines.filter((line) => line.includes(vote.id))).toEqual([
      expect.stringMatching(/Z vote .+ of Alice: delivered$/),
    ]);
  });

  test('hands over a name with a line or paragraph separator, and logs it as one line', async () => {
    const name = 'A\u2028B\u2029C';
    const vote = bench.api.cast(name);
    await expect.poll(() => vote.state).toBe('delivered');
    expect(bench.received().at(-1)).toBe(name);
    expect(relay.lines.filter((line) => line.includes(vote.id))).toEqual([
      expect.stringMatching(/Z vote .+ of A B C: delivered$/),
    ]);
  });

  test('hands a vote over again if its owner sends it again', async () => {
    const vote = bench.api.cast('Resent');
    await expect.poll(() => vote.state).toBe('delivered');
    bench.api.resend(vote);
    await expect
      .poll(() => vote.timeline)
      .toEqual(['taken 1', 'delivered', 'resend', 'taken 2', 'delivered']);
    expect(bench.received().slice(-2)).toEqual(['Resent', 'Resent']);
  });

  test('tells the outcome that it saw: failed, unknown or retry, with the words of the plugin', async () => {
    const { api, listener } = bench;
    const good = async () => {
      listener.behaviour = {};
      const vote = api.cast('Good');
      await expect.poll(() => vote.state).toBe('delivered');
    };
    const long = api.cast('NameOfSeventeenCh');
    await expect.poll(() => long.state).toBe('failed');
    expect(long.reason).toBe('CorruptedFrameException: Username too long');
    // Nothing has arrived: if its owner sends it again, the plugin is asked again, though the sending has the same number.
    const asked = listener.connections;
    api.resend(long);
    await expect.poll(() => long.timeline).toEqual(['taken 1', 'failed', 'resend', 'taken 1', 'failed']);
    expect(listener.connections).toBe(asked + 1);
    const huge = api.cast('x'.repeat(900));
    await expect.poll(() => huge.state).toBe('failed');
    expect(huge.reason).toBe('the name is too long for Votifier v2');

    for (const [behaviour, reason] of [
      [{ onFrame: 'close' }, /closed the connection without an answer: the token may be wrong/],
      [{ onFrame: 'reset' }, /the connection broke/],
      [{ answer: 'HTTP/1.1 400 Bad Request\r\n' }, /answered with something else: HTTP\/1.1 400/],
    ] as const) {
      await good();
      listener.behaviour = behaviour;
      const vote = api.cast('Alice');
      await expect.poll(() => vote.timeline).toContain('unknown');
      expect(vote.reason).toMatch(reason);
      // The listing sends it again by its own schedule: a new sending, which reaches the game.
      listener.behaviour = {};
      await expect.poll(() => vote.timeline).toEqual(['taken 1', 'unknown', 'taken 2', 'delivered']);
    }

    await good();
    listener.behaviour = { answer: '{"status":"error","cause":"java.lang.RuntimeException"}' };
    const thrown = api.cast('Bob');
    await expect.poll(() => thrown.timeline).toContain('retry');
    expect(thrown.reason).toBe('Votifier answered: java.lang.RuntimeException');
    listener.behaviour = {};
    await expect.poll(() => thrown.timeline.slice(-2)).toEqual(['taken 1', 'delivered']);
  });

  test('has sent the listing only what it understands, and stops in order', async () => {
    expect(bench.api.refusedBodies).toBe(0);
    expect(await relay.stop()).toBe(0);
    expect(relay.lines.at(-1)).toMatch(/stopped$/);
  });
});

describe.skipIf(!HAS_JAVA)('the relay', () => {
  test('hands votes to a Votifier v1 with its public key: sent, or delivered where the plugin confirms', async () => {
    const bench = await relayBench({ plugin: 'VotifierPlus' });
    bench.writeVotifierConfig(`host: '::'\nport: ${bench.listener.port}\n`);
    bench.writePublicKey();
    bench.listener.behaviour = { v1Only: true };
    bench.start();
    const silent = bench.api.cast('Ärmel');
    await expect.poll(() => silent.state).toBe('sent');
    bench.listener.behaviour = { v1Only: true, answer: '{"status":"ok"}' };
    const confirmed = bench.api.cast('Bob');
    await expect.poll(() => confirmed.state).toBe('delivered');
    expect(bench.listener.votes[1]).toMatchObject({
      protocol: 'v1',
      username: 'Bob',
      timestamp: String(Date.parse(confirmed.votedAt)),
    });
    // It confirmed before: a bare close is a failure of the plugin or a changed key.
    bench.listener.behaviour = { v1Only: true };
    const unconfirmed = bench.api.cast('Carol');
    await expect.poll(() => unconfirmed.timeline).toContain('unknown');
  });

  test('takes the token of the voting site if the plugin has one, and v1 where there is no token', async () => {
    const bench = await relayBench();
    bench.listener.tokens = { 'our: site': 'token of the site', default: 'another' };
    bench.writeVotifierConfig(
      `port: ${bench.listener.port} # the port\ntokens:\n    'our: site': "token of the site"\n    default: wrong\n`,
    );
    const relay = bench.start();
    const vote = bench.api.cast('Alice', { serviceName: 'our: site' });
    await expect.poll(() => vote.state).toBe('delivered');
    bench.writeVotifierConfig(`port: ${bench.listener.port}\ntokens: {}\n`);
    const without = bench.api.cast('Bob');
    await relay.says(/Votifier has no token for Tallyport in its config.yml, and .*public.key is not there/);
    bench.writePublicKey();
    await expect.poll(() => without.state).toBe('sent');
    expect(bench.listener.votes.map(({ protocol }) => protocol)).toEqual(['v2', 'v1']);
  });

  test('holds all votes back while the token is refused, says so, and goes on when the setting is right', async () => {
    const bench = await relayBench();
    bench.writeVotifierConfig(configYml(bench.listener.port, 'wrong'));
    const votes = ['Alice', 'Bob', 'Carol'].map((name) => bench.api.cast(name));
    const relay = bench.start();
    await relay.says(/! no votes are fetched for now: Votifier refused the token: .*Signature is not valid/);
    expect(votes.map(({ timeline }) => timeline)).toEqual([['taken 1', 'retry'], [], []]);
    expect(votes[0]?.reason).toMatch(/^Votifier refused the token: CorruptedFrameException/);
    bench.writeVotifierConfig(configYml(bench.listener.port, bench.listener.token));
    await expect.poll(() => votes.map(({ state }) => state)).toEqual(Array(3).fill('delivered'));
    await relay.says('votes are fetched again');
    expect(bench.received().toSorted()).toEqual(['Alice', 'Bob', 'Carol']);
  });

  test('takes no vote while Votifier is away or is something else, and says which', async () => {
    const bench = await relayBench();
    const config = configYml(bench.listener.port, bench.listener.token);
    rmSync(bench.pluginFolder, { recursive: true });
    const vote = bench.api.cast('Alice');
    const relay = bench.start();
    await relay.says(/Votifier was not found: no config.yml in .*plugins\/Votifier, .*VotifierPlus/);
    await bench.listener.stop();
    bench.makePluginFolder();
    bench.writeVotifierConfig('port: -1\n');
    await relay.says('Votifier does not listen: port is -1');
    bench.writeVotifierConfig(config);
    await relay.says(/Votifier does not answer at 127.0.0.1:\d+ \(.*\): is the game server running\?/);
    bench.listener.behaviour = { greeting: 'SSH-2.0-OpenSSH_9.2\n' };
    await bench.listener.start();
    await relay.says('is not Votifier; it said: SSH-2.0-OpenSSH_9.2');
    expect(vote.timeline).toEqual([]);
    bench.listener.behaviour = {};
    bench.writeVotifierConfig(`${config}\n`);
    await expect.poll(() => vote.timeline).toEqual(['taken 1', 'delivered']);
  });

  test('finishes the vote under way when it is stopped, and gives the others back', async () => {
    const bench = await relayBench();
    const first = bench.api.cast('First');
    const relay = bench.start();
    await expect.poll(() => first.state).toBe('delivered');
    bench.listener.stall();
    // Both are due at once, so that one take brings both.
    bench.api.paused = true;
    const [alice, bob] = [bench.api.cast('Alice'), bench.api.cast('Bob')];
    bench.api.paused = false;
    bench.api.cast('Carol');
    await expect.poll(() => bench.listener.held).toBe(1);
    const stopped = relay.stop();
    setTimeout(() => bench.listener.release(), 300);
    expect(await stopped).toBe(0);
    expect(alice.timeline).toEqual(['taken 1', 'delivered']);
    expect(bob.timeline).toEqual(['taken 1', 'retry']);
    expect(bob.reason).toBe('the relay stops');
    expect(bench.received()).toEqual(['First', 'Alice']);
  });

  test('ends at once while it waits for votes', async () => {
    const bench = await relayBench();
    const relay = bench.start();
    await expect.poll(() => bench.api.calls.length).toBe(1);
    const began = performance.now();
    expect(await relay.stop()).toBe(0);
    expect(performance.now() - began).toBeLessThan(5_000);
    expect(bench.readJournal()).toMatch(/^\d+ take [\w-]+ #[0-9a-f]+\n$/);
  });

  test('notices a changed configuration within seconds while it waits for votes', async () => {
    const bench = await relayBench();
    bench.start();
    await expect.poll(() => bench.api.calls.length).toBe(1);
    bench.writeConfig([`server=${bench.api.url}`, `key=${bench.api.key}`, '# changed']);
    // Well before the end of its first call, which waits for 25 s.
    await expect.poll(() => bench.api.calls.length, { timeout: 12_000 }).toBe(2);
    const vote = bench.api.cast('Alice');
    await expect.poll(() => vote.timeline).toEqual(['taken 1', 'delivered']);
  });

  test('uses a folder of the vote plugin that its configuration names', async () => {
    const bench = await relayBench({ plugin: join('elsewhere', 'plugins', 'Votifier') });
    bench.writeConfig([
      '# my server',
      `server = ${bench.api.url}/`,
      `key = ${bench.api.key}`,
      'votifier = plugins/elsewhere',
    ]);
    const vote = bench.api.cast('Alice');
    bench.start();
    await expect.poll(() => vote.state).toBe('delivered');
  });
});

describe.skipIf(!HAS_JAVA)('the relay and the listing', () => {
  let web: TestDeps;
  beforeAll(async () => {
    web = await startApp();
    atTheEnd(() => web.close());
  });

  test('bring a vote from the listing to the game, and its outcome into the database', async () => {
    const server = await addFetchingServer(web);
    const bench = await relayBench();
    bench.writeConfig([
      `server=${web.url}/api/v1/servers/${server.serverId.toHexString()}`,
      `key=${server.token}`,
    ]);
    const check = bench.start(['--check']);
    await expect.poll(() => check.child.exitCode, { message: check.lines.join('\n') }).toBe(0);
    const [alice, long] = [await server.cast('Alice'), await server.cast('NameOfSeventeenCh')];
    const relay = bench.start();
    const stateOf = async ({ _id }: typeof alice) => (await server.vote(_id)).delivery.state;
    await expect.poll(() => stateOf(alice)).toBe('delivered');
    await expect.poll(() => stateOf(long)).toBe('failed');
    expect(bench.listener.votes).toMatchObject([
      { username: 'Alice', uuid: alice._id.toString(), serviceName: 'Tallyport', timestamp: +alice.votedAt },
    ]);
    const { attempts } = (await server.vote(long._id)).delivery;
    expect(attempts.at(-1)).toMatchObject({
      code: 'fetch-failed',
      words: 'CorruptedFrameException: Username too long',
    });
    await expect.poll(bench.readJournal).toMatch(new RegExp(` settled ${long._id.toString()} 1 `));
    expect(await relay.stop()).toBe(0);
    expect(relay.lines.filter((line) => line.includes('!'))).toEqual([
      expect.stringContaining('failed (CorruptedFrameException: Username too long)'),
    ]);
  });

  test('say that the key is of another kind', async () => {
    const server = await addFetchingServer(web);
    const bench = await relayBench();
    const { token } = await issueToken(web.deps, { serverId: server.serverId, name: 'other' });
    bench.writeConfig([`server=${web.url}/api/v1/servers/${server.serverId.toHexString()}`, `key=${token}`]);
    const relay = bench.start();
    await relay.says('the key may not fetch votes: issue one for fetching');
    expect(readFileSync(bench.journal, 'utf8')).not.toContain('begin');
  });
});
