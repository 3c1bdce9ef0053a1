import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { constantFrom, dictionary, json, nat, oneof, sample, stringMatching, tuple } from 'fast-check';
import { describe, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { buildJar, hashOfSources, JAR, javacVersion, readJar } from '../../relay/build.ts';
import { compileBesideJar } from './compile.ts';
import { HAS_JAVAC, SMALL_JVM } from './relay-process.ts';

const jar = readFileSync(JAR);
const entries = readJar(jar);
const manifest = entries.find(({ name }) => name === 'META-INF/MANIFEST.MF')?.bytes.toString() ?? '';
const inManifest = (field: string) => new RegExp(`^${field}: (.*)\r$`, 'm').exec(manifest)?.[1];

describe('the committed jar', () => {
  test('is built from the committed sources', () => {
    expect(inManifest('Tallyport-Sources'), 'run npm run relay').toBe(hashOfSources());
  });

  test('is small, for Java 8, and has none of the classes that the server brings', () => {
    expect(jar.length).toBeLessThan(100_000);
    const names = entries.map(({ name }) => name);
    expect(names.slice(0, 3)).toEqual(['META-INF/MANIFEST.MF', 'plugin.yml', 'tallyport/relay/version.txt']);
    const classes = entries.slice(3);
    expect(classes.every(({ name }) => /^tallyport\/relay\/[A-Z][\w$]+\.class$/.test(name))).toBe(true);
    // The major version of a class file: 52 is Java 8.
    expect(new Set(classes.map(({ bytes }) => bytes.readUInt16BE(6)))).toEqual(new Set([52]));
  });

  test('names one version: in the manifest, for Bukkit and for itself', () => {
    const text = (name: string) => entries.find((entry) => entry.name === name)?.bytes.toString() ?? '';
    const version = text('tallyport/relay/version.txt').trim();
    expect(version).toMatch(/^\d+\.\d+\.\d+$/);
    expect(inManifest('Implementation-Version')).toBe(version);
    expect(text('plugin.yml')).toContain(`version: '${version}'`);
  });

  // Another javac makes other bytes of the same sources. The hash of the sources is compared everywhere.
  test.skipIf(javacVersion() !== inManifest('Tallyport-Javac'))(
    'has the bytes that its javac makes of the sources',
    () => {
      const built = readJar(buildJar());
      expect(built.map(({ name }) => name)).toEqual(entries.map(({ name }) => name));
      for (const [index, { name, bytes }] of built.entries())
        expect(bytes.equals(entries[index]?.bytes ?? Buffer.of()), name).toBe(true);
    },
  );
});

describe.skipIf(!HAS_JAVAC)('the relay reads', () => {
  /** What the relay's parser makes of each text: a value, or `refused`. */
  function parse(parser: 'json' | 'yaml', texts: string[]): unknown[] {
    const classPath = compileBesideJar(['tallyport/relay/ParserHarness.java']);
    const input = texts.map((text) => `${Buffer.from(text).toString('base64')}\n`).join('');
    const options = [...SMALL_JVM, '-cp', classPath, 'tallyport.relay.ParserHarness', parser];
    const { stdout } = spawnSync('java', options, { input, maxBuffer: 1 << 28 });
    const lines = stdout.toString().trimEnd().split('\n');
    expect(lines.length).toBe(texts.length);
    return lines.map((line) => (line === 'refused' ? line : JSON.parse(line)));
  }

  test('JSON as Node does, and refuses what is none', () => {
    const valid = sample(json({ depthSize: 'medium', noUnicodeString: false }), 1_000);
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
    const found = parse('json', texts);
    for (const [index, text] of texts.entries()) {
      let expected: unknown = 'refused';
      try {
        // The relay's numbers (`BigDecimal`) have no -0.
        expected = JSON.parse(text, (_key, value) => (Object.is(value, -0) ? 0 : value));
      } catch {}
      expect(found[index], text).toEqual(expected);
    }
    const bombs = [
      '['.repeat(100_000),
      `{"a":${'['.repeat(40)}1${']'.repeat(40)}}`,
      '1e999999999',
      '9'.repeat(99),
    ];
    expect(parse('json', bombs)).toEqual(bombs.map(() => 'refused'));
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
    expect(parse('yaml', [`tokens:\n  a: 'abc' # don't\n  b: "d\\"e" # "f"\n`])).toEqual([
      { tokens: { a: 'abc', b: 'd"e' } },
    ]);
    for (const [index, found] of parse('yaml', texts).entries())
      expect(found, texts[index]).toMatchObject({ tokens: { ...tokens[index], default: `t${index}` } });
  });
});
