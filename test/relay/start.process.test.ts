import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { checkWith, HAS_JAVA, journalLine, relayBench } from './relay-process.ts';

describe.skipIf(!HAS_JAVA)('the program', () => {
  test('writes a configuration with comments at its first start, and says what to fill in', async () => {
    const bench = await relayBench();
    const file = `${bench.folder}/new.properties`;
    const first = bench.start(['--config', 'new.properties']);
    await first.says('Wrote new.properties: fill in server= and key=, then start the relay again.');
    expect(await first.end()).toBe(1);
    expect(readFileSync(file, 'utf8')).toContain('\nserver=\nkey=\n');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const second = bench.start(['--config', 'new.properties']);
    await second.says('fill in server= in new.properties');
    expect(await second.end()).toBe(1);
  });

  test('refuses a configuration that it does not understand, and names the line', async () => {
    const bench = await relayBench();
    const lines: [string[], string][] = [
      [['server=http://listing.example/api/v1/servers/1', 'key=k'], 'must begin with https://'],
      [
        ['server=https://listing.example/servers/1', 'key=k'],
        'must have the form https://LISTING/api/v1/servers/ID',
      ],
      [
        [`server=${bench.api.url.slice(0, -1)}`, 'key=k'],
        'ends with 6555c0ffee6555c0ffee655, which is no id of a server',
      ],
      [['server=listing.example', 'key=k'], 'is no address'],
      [[`server=${bench.api.url}`, 'key=two words'], 'is no key'],
      [[`server=${bench.api.url}`, 'key="k"'], 'key= in tallyport-relay.properties has quotes around it'],
      [[`server=“${bench.api.url}”`, 'key=k'], 'server= in tallyport-relay.properties has quotes around it'],
      [[`server=${bench.api.url} key=k`], 'server= and key= are in one line'],
      [[`server=${bench.api.url}`, 'keys=k'], 'none of server=, key= and votifier=: keys'],
    ];
    for (const [config, words] of lines) {
      bench.writeConfig(config);
      const relay = bench.start();
      await relay.says(words);
      expect(await relay.end()).toBe(1);
    }
    const config = Buffer.from(`\ufeffserver=${bench.api.url}\r\nkey=k\r\n`, 'utf16le');
    writeFileSync(`${bench.folder}/tallyport-relay.properties`, config);
    expect(await checkWith(bench)).toEqual({
      code: 1,
      lines: ['! tallyport-relay.properties is saved as UTF-16 ("Unicode"): save it as UTF-8'],
    });
    expect(bench.api.calls).toEqual([]);
  });

  test('checks everything without a vote, and exits with 0 only if votes can arrive', async () => {
    const bench = await relayBench();
    const vote = bench.api.cast('Alice');
    const check = async () => {
      const { code, lines } = await checkWith(bench);
      return { code, said: lines.join('\n') };
    };
    const good = await check();
    expect(good.said.split('\n')).toEqual([
      `The listing is reached, and the key is accepted: ${bench.api.url}`,
      `Votifier was found: ${bench.pluginFolder}`,
      `Votifier answers at 127.0.0.1:${bench.listener.port}; votes are handed over with v2 and its token`,
    ]);
    expect(good.code).toBe(0);

    bench.listener.behaviour = { v1Only: true };
    const noKey = await check();
    expect(noKey.said).toMatch(
      /^! Votifier answers at .*, but there is no way to send: .*public.key is not there$/m,
    );
    bench.writePublicKey();
    expect((await check()).said).toContain('votes are handed over with v1 and its public key');

    bench.writeConfig([`server=${bench.api.url}`, 'key=wrong']);
    await bench.listener.stop();
    const wrong = await check();
    expect(wrong.said).toMatch(/^! the key was refused/m);
    expect(wrong.said).toMatch(/^! Votifier does not answer/m);
    expect([noKey.code, wrong.code]).toEqual([1, 1]);
    expect(vote.timeline).toEqual([]);
    expect(bench.listener.votes).toEqual([]);
  });

  test('knows no other arguments', async () => {
    const bench = await relayBench();
    const relay = bench.start(['--wrong']);
    await relay.says(/^Unknown argument: --wrong\n\nFetches the votes/);
    expect(await relay.end()).toBe(2);
  });

  test.skipIf(!existsSync('/proc/self/stat'))(
    'that finds its folder in use says so once, rests meanwhile, and begins when the other one has ended',
    async () => {
      const bench = await relayBench();
      const first = bench.start();
      await first.says('fetches the votes of');
      const second = bench.start();
      await second.says('the relay cannot begin: another relay uses');
      let before = 0;
      const ticksSinceLast = () => {
        const fields =
          readFileSync(`/proc/${second.child.pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
        const ticks = Number(fields[11]) + Number(fields[12]);
        const used = ticks - before;
        before = ticks;
        return used;
      };
      // Of a hundred ticks a second.
      await expect.poll(ticksSinceLast, { interval: 500 }).toBeLessThan(3);
      expect(second.lines).toHaveLength(1);
      await first.stop();
      await second.says('fetches the votes of');
    },
  );

  test('hands no vote over while its journal cannot be written, and says that the disk may be full', async () => {
    const bench = await relayBench();
    // A journal that is near the largest file that the process may write.
    let past = '';
    while (past.length < 1_024 - 160) past += journalLine(`done ${randomUUID()} 1 delivered`);
    writeFileSync(bench.journal, past);
    const vote = bench.api.cast('Alice');
    const full = bench.start([], ['bash', '-c', 'ulimit -f 1; exec java "$@"', 'java']);
    await full.says(/journal cannot be written \(.*\): is the disk full\?/);
    await expect.poll(() => vote.reason).toMatch(/^the relay's journal cannot be written/);
    await full.kill();
    expect(bench.received()).toEqual([]);
    bench.start();
    await expect.poll(() => vote.state).toBe('delivered');
    expect(bench.received()).toEqual(['Alice']);
  });
});
