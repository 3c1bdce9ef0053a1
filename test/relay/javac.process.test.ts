import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { isDeepStrictEqual } from 'node:util';
import {
  constantFrom,
  dictionary,
  integer,
  json,
  nat,
  oneof,
  sample,
  stringMatching,
  tuple,
} from 'fast-check';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { stringify } from 'yaml';
import { buildJar, JAR, javacVersion, readJar } from '../../relay/build.ts';
import { startFakeHttpListener } from '../support/fake-http-listener.ts';
import { compileBesideJar } from './compile.ts';
import { HAS_JAVAC, relayBench, SMALL_JVM } from './relay-process.ts';

/** The jar and the programs beside it, compiled once for all tests. */
let classPath: string;
beforeAll(() => {
  if (HAS_JAVAC) classPath = compileBesideJar();
});

const entries = readJar(readFileSync(JAR));

// Another javac makes other bytes of the same sources. The hash of the sources is compared everywhere (jar.test.ts).
test.skipIf(!entries[0]?.bytes.includes(`Tallyport-Javac: ${javacVersion()}\r\n`))(
  'the committed jar has the bytes that its javac makes of the sources',
  () => {
    const built = readJar(buildJar());
    expect(built.map(({ name }) => name)).toEqual(entries.map(({ name }) => name));
    for (const [index, { name, bytes }] of built.entries())
      expect(bytes.equals(entries[index]?.bytes ?? Buffer.of()), name).toBe(true);
  },
);

describe.skipIf(!HAS_JAVAC)('the relay reads', () => {
  /** The relay's numbers (`BigDecimal`) have no -0. */
  const parseJson = (text: string) =>
    JSON.parse(text, (_key, value) => (Object.is(value, -0) ? 0 : value)) as unknown;

  /** What the relay's parser makes of each text: a value, or `refused`. */
  function parse(parser: 'json' | 'yaml', texts: string[]): unknown[] {
    const input = texts.map((text) => `${Buffer.from(text).toString('base64')}\n`).join('');
    const options = [...SMALL_JVM, '-cp', classPath, 'tallyport.relay.ParserHarness', parser];
    const { stdout } = spawnSync('java', options, { input, maxBuffer: 1 << 28 });
    const lines = stdout.toString().trimEnd().split('\n');
    expect(lines.length).toBe(texts.length);
    return lines.map((line) => (line === 'refused' ? line : parseJson(line)));
  }

  /** The texts of which the relay's parser makes something else than `expected`. */
  const misread = (texts: string[], found: unknown[], expected: unknown[]) =>
    texts.flatMap((text, index) =>
      isDeepStrictEqual(found[index], expected[index]) ? [] : [[text, found[index], expected[index]]],
    );

  test('JSON as Node does, and refuses what is none', () => {
    // Every code point. The library's own list of them takes a second to make.
    const codes = [0xff, 0xd7ff].map((max) => integer({ min: 0, max }));
    const character = oneof(...codes, integer({ min: 0xe000, max: 0x10ffff })).map((code) =>
      String.fromCodePoint(code),
    );
    const valid = sample(json({ depthSize: 'medium', stringUnit: character }), 1_000);
    const broken = sample(
      tuple(json(), nat(), constantFrom('', '"', '{', '}', ',', '\\', '0', '\n', '.', 'e', '\\u12')).map(
        ([text, at, put]) => {
          const place = at % (text.length + 1);
          return text.slice(0, place) + put + text.slice(place + 1);
        },
      ),
      3_000,
    );
    const special = [
      '',
      ' ',
      '-',
      '-0',
      '[-0e-323]',
      '01',
      '1.',
      '.5',
      '+1',
      '1e',
      'NaN',
      '"\\x"',
      '"\t"',
      '[1,]',
      '{"a":1,}',
    ];
    const texts = [
      ...valid,
      ...broken,
      ...special,
      '"\\ud83d\\ude00"',
      '[[[1]]]',
      '\ufeff{}',
      '{} {}',
    ].filter((text) => text.isWellFormed() && !/\d{30}|[eE][+-]?\d{4}/.test(text));
    const bombs = [
      '['.repeat(100_000),
      `{"a":${'['.repeat(40)}1${']'.repeat(40)}}`,
      '1e999999999',
      '9'.repeat(99),
    ];
    const expected = texts.map((text) => {
      try {
        return parseJson(text);
      } catch {
        return 'refused';
      }
    });
    const found = parse('json', [...texts, ...bombs]);
    expect(misread(texts, found, expected)).toEqual([]);
    expect(found.slice(texts.length)).toEqual(bombs.map(() => 'refused'));
  });

  test('the tokens of a config.yml, however the plugin has quoted them', () => {
    const name = stringMatching(/^[A-Za-z0-9ä._: '"#-]{1,30}$/).filter((text) => text.trim() === text);
    const token = oneof(stringMatching(/^[a-z0-9]{26}$/), name);
    const tokens = sample(dictionary(name, token, { minKeys: 1, noNullPrototype: true }), 500);
    const texts = tokens.map((some, index) =>
      stringify(
        {
          host: '0.0.0.0',
          port: 8192,
          tokens: { ...some, default: `t${index}` },
          forwarding: { method: 'none' },
        },
        {
          lineWidth: 0,
          ...(index % 2 === 0 ? {} : { defaultStringType: 'QUOTE_SINGLE', defaultKeyType: 'PLAIN' }),
        },
      ),
    );
    const commented = `tokens:\n  a: 'abc' # don't\n  b: "d\\"e" # "f"\n`;
    const found = parse('yaml', [...texts, commented]) as { tokens: object }[];
    expect(found.pop()).toEqual({ tokens: { a: 'abc', b: 'd"e' } });
    const expected = tokens.map((some, index) => ({ ...some, default: `t${index}` }));
    expect(
      misread(
        texts,
        found.map((one) => one.tokens),
        expected,
      ),
    ).toEqual([]);
  });
});

/** A server with the plugin, which is enabled and disabled on demand. */
function startServer(folder: string) {
  const data = join(folder, 'plugins', 'TallyportRelay');
  const options = [...SMALL_JVM, `-Dplugin.folder=${data}`, '-cp', classPath];
  const child = spawn('java', [...options, 'PluginHarness'], { cwd: folder });
  const lines: string[] = [];
  createInterface({ input: child.stderr }).on('line', (line) => lines.push(line));
  onTestFinished(() => void child.kill('SIGKILL'));
  const order = async (name: 'enable' | 'disable') => {
    const from = lines.length;
    child.stdin.write(`${name}\n`);
    const isEnd = (line: string) => line.startsWith(`${name}d in `);
    await expect.poll(() => lines.slice(from).some(isEnd)).toBe(true);
    const end = lines.slice(from).find(isEnd) ?? '';
    const [ms = 0, threads = 0] = end.match(/\d+/g)?.map(Number) ?? [];
    return { ms, threads };
  };
  return { child, lines, data, order };
}

describe.skipIf(!HAS_JAVAC)('the relay as a plugin', () => {
  test('writes its configuration, reads it when it is filled in, and hands votes over beside the server', async () => {
    const bench = await relayBench();
    const server = startServer(bench.folder);
    const enabled = await server.order('enable');
    // The work is in a thread of its own.
    expect(enabled).toEqual({ ms: expect.toSatisfy((ms: number) => ms < 2_000), threads: 1 });
    const config = join(server.data, 'tallyport-relay.properties');
    await expect
      .poll(() => server.lines.join('\n'))
      .toMatch(`WARNING Wrote ${config}: fill in server= and key=`);
    expect(readFileSync(config, 'utf8')).toMatch(/^# .*\nserver=\nkey=\n/ms);

    const vote = bench.api.cast('Alice');
    writeFileSync(config, `server=${bench.api.url}\nkey=${bench.api.key}\n`);
    await expect.poll(() => vote.state).toBe('delivered');
    expect(bench.api.calls[0]?.headers['user-agent']).toMatch(/; Bukkit\)$/);
    await expect.poll(() => server.lines.join('\n')).toContain(`INFO vote ${vote.id} of Alice: delivered`);

    // A reload of the server: the same process, a new plugin.
    expect((await server.order('disable')).threads).toBe(0);
    expect(server.lines.join('\n')).toContain('INFO stopped');
    const meanwhile = bench.api.cast('Bob');
    await server.order('enable');
    await expect.poll(() => meanwhile.state).toBe('delivered');
    expect(bench.received()).toEqual(['Alice', 'Bob']);

    // A server that stops does not wait for the relay's threads.
    server.child.stdin.end();
    await once(server.child, 'exit');
    expect(server.child.exitCode).toBe(0);
  });

  test('says that another relay uses its folder, and begins when that one has ended', async () => {
    const bench = await relayBench();
    const server = startServer(bench.folder);
    mkdirSync(server.data, { recursive: true });
    const config = join(server.data, 'tallyport-relay.properties');
    writeFileSync(config, `server=${bench.api.url}\nkey=${bench.api.key}\n`);
    const other = bench.start(['--config', config]);
    await other.says('fetches the votes of');
    await server.order('enable');
    await expect
      .poll(() => server.lines.join('\n'))
      .toContain(`the relay cannot begin: another relay uses ${server.data}`);
    await other.stop();
    const vote = bench.api.cast('Alice');
    await expect.poll(() => vote.state).toBe('delivered');
  });
});

test.skipIf(!HAS_JAVAC)('the relay names an old Java 8 that does not know an authority', async () => {
  const bench = await relayBench();
  const { port } = await startFakeHttpListener({ certificate: 'self-signed' });
  bench.writeConfig([bench.serverLine(`https://127.0.0.1:${port}`), 'key=k']);
  const relay = bench.start([], ['java', '-cp', classPath, 'tallyport.relay.Java8Harness']);
  await relay.says(
    /Java 1\.8\.0_101 does not know the authority .* \(unable to find .*\): install the newest update of Java 8/,
  );
});

test.skipIf(!HAS_JAVAC)(
  'the relay goes on after an error of the JVM that has no stack trace, and says it',
  async () => {
    const bench = await relayBench();
    const vote = bench.api.cast('Alice');
    const relay = bench.start([], ['java', '-cp', classPath, 'tallyport.relay.ErrorHarness']);
    await relay.says('! an error in the relay: java.lang.StackOverflowError');
    await expect.poll(() => vote.timeline).toEqual(['taken 1', 'delivered']);
  },
);
