import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { setListener } from '../../src/delivery/change-listener.ts';
import { atTheEnd } from '../support/at-the-end.ts';
import { startFakeHttpListener } from '../support/fake-http-listener.ts';
import { addFetchingServer } from '../support/fetching.ts';
import { startApp, type TestDeps } from '../support/start-app.ts';
import { checkWith, configYml, HAS_JAVA, newFolder, relayBench } from './relay-process.ts';

type Bench = Awaited<ReturnType<typeof relayBench>>;

/** Expects that `--check` finds only this wrong, and exits with 1. */
async function expectCause(bench: Bench, line: RegExp, options: string[] = []): Promise<void> {
  const { code, lines } = await checkWith(bench, options);
  expect([lines.filter((said) => said.startsWith('!')), code]).toEqual([[expect.stringMatching(line)], 1]);
}

describe.skipIf(!HAS_JAVA)('--check names what keeps votes from arriving, and exits with 1', () => {
  test('the server does not fetch its votes, or their delivery is paused', async () => {
    const bench = await relayBench();
    bench.api.fetching = false;
    await expectCause(
      bench,
      /^! the listing does not let this server fetch its votes: choose "My server fetches/,
    );
    bench.api.fetching = true;
    bench.api.paused = true;
    await expectCause(bench, /^! the delivery of votes is paused at the listing: resume it/);
  });

  test.each([
    [401, /^! something between .*, such as a filter, answered with HTTP 401; the key was not looked at/],
    [403, /^! something between .*, such as a filter, answered with HTTP 403; the key was not looked at/],
    [404, /^! what answers there is no Tallyport listing \(HTTP 404\): check server=/],
    [429, /^! something between .* answered with HTTP 429/],
    [502, /^! the listing cannot be reached: a proxy in front of it answered with HTTP 502/],
  ])('a page without JSON: %i', async (status, line) => {
    const bench = await relayBench();
    bench.api.intercept = ({ response }) => {
      const headers = { 'content-type': 'text/html', 'www-authenticate': 'Basic realm="x"' };
      response.writeHead(status, headers).end('<!DOCTYPE html><title>Just a moment...</title>');
      return true;
    };
    await expectCause(bench, line);
  });

  test('what listens at the port of Votifier says nothing', async () => {
    const bench = await relayBench();
    const silent = createServer().listen(0, '127.0.0.1');
    await once(silent, 'listening');
    onTestFinished(() => void silent.close());
    bench.writeVotifierConfig(configYml((silent.address() as AddressInfo).port, 'token'));
    await expectCause(
      bench,
      /^! what listens at .* sent no greeting in time: it is another program \(check port/,
    );
  });

  test('the config.yml of Votifier is empty', async () => {
    const bench = await relayBench();
    bench.writeVotifierConfig('\n');
    await expectCause(bench, /config\.yml is empty: delete it and restart the game server/);
    // It has the tokens of all sites, so nobody is told to delete it.
    bench.writeVotifierConfig(' host: 0.0.0.0\n port: 8192\n');
    await expectCause(
      bench,
      /config\.yml has no setting at the beginning of a line, .* is it saved as UTF-8\?/,
    );
  });

  test('the path of the journal is a folder', async () => {
    const bench = await relayBench();
    mkdirSync(bench.journal);
    await expectCause(bench, /tallyport-relay\.journal is a folder: rename it/);
    await bench.start().says(/the relay cannot begin: .*tallyport-relay\.journal is a folder: rename it/);
  });
});

describe.skipIf(!HAS_JAVA)('--check names why no encrypted connection is made', () => {
  let trusting: string[];
  beforeAll(() => {
    const store = join(newFolder(), 'authorities.p12');
    for (const authority of ['authority', 'second-authority']) {
      const file = fileURLToPath(new URL(`../support/certificates/${authority}.pem`, import.meta.url));
      const options = ['-noprompt', '-alias', authority, '-file', file, '-keystore', store];
      execFileSync('keytool', ['-importcert', ...options, '-storepass', 'password'], { stdio: 'ignore' });
    }
    trusting = [`-Djavax.net.ssl.trustStore=${store}`, '-Djavax.net.ssl.trustStorePassword=password'];
  });

  test.each<[string, string | undefined, RegExp]>([
    ['no HTTPS', undefined, /what answers there does not speak HTTPS \(.*SSL message.*\): is the port/],
    ['an expired one', 'expired', /its certificate has expired \(NotAfter: .* 2026\): tell .* clock \(\d/],
    [
      'one of tomorrow',
      'not-yet-valid',
      /this machine's clock \(\d.*\) is slow: .* not yet valid \(NotBefore: .*2120\)/,
    ],
    [
      'one for another name',
      'other',
      /its certificate is for another name \(No subject alternative .*\): is/,
    ],
    [
      'a self-signed one, and no old Java is blamed',
      'self-signed',
      /its certificate is not trusted \(unable to find .*\): it is self-signed, (?!.*Java)/,
    ],
  ])('%s', async (_name, certificate, words) => {
    const bench = await relayBench();
    const { port } = await startFakeHttpListener(certificate ? { certificate } : {});
    bench.writeConfig([bench.serverLine(`https://127.0.0.1:${port}`), 'key=k']);
    await expectCause(bench, new RegExp(`^! the listing cannot be reached: ${words.source}`), trusting);
  });
});

describe.skipIf(!HAS_JAVA)('--check and the listing', () => {
  let web: TestDeps;
  beforeAll(async () => {
    web = await startApp();
    atTheEnd(() => web.close());
  });

  test('find a server that does not fetch, and an id of another server', async () => {
    const server = await addFetchingServer(web);
    const other = await addFetchingServer(web);
    const bench = await relayBench();
    const write = ({ serverId }: typeof server) =>
      bench.writeConfig([
        `server=${web.url}/api/v1/servers/${serverId.toHexString()}`,
        `key=${server.token}`,
      ]);
    write(server);
    expect((await checkWith(bench)).code).toBe(0);
    const votifier = { protocol: 'votifier-v2', host: 'mc.example.org', port: 8192 } as const;
    const settings = { ...votifier, secret: 'token-0123456789', serviceName: 'Tallyport' };
    await setListener(web.deps, server.serverId, settings, 'test');
    await expectCause(bench, /^! the listing does not let this server fetch its votes/);
    write(other);
    await expectCause(bench, /^! the key was refused: .* or it is of another server than server= names/);
  });

  test('a fifth relay with one key learns that there are too many', async () => {
    const server = await addFetchingServer(web);
    const bench = await relayBench();
    bench.writeConfig([
      `server=${web.url}/api/v1/servers/${server.serverId.toHexString()}`,
      `key=${server.token}`,
    ]);
    const left = new AbortController();
    const four = Array.from({ length: 4 }, () => server.call({ wait_seconds: 30 }, { signal: left.signal }));
    onTestFinished(async () => {
      left.abort();
      await Promise.allSettled(four);
    });
    await bench.start().says(/asks the relay to wait \(429\): too many relays or programs fetch the votes/);
  });
});
