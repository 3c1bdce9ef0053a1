import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { graphOf } from './import-graph.ts';

/** Modules that open connections or look up names. The drivers of MongoDB and Redis are not among them. */
const NETWORK = /^(node:(net|tls|http|https|http2|dgram|dns|dns\/promises)|gamedig|nodemailer|undici)$/;
/** What may be imported of them everywhere: it opens nothing. */
const HARMLESS = new Set(['isIP', 'isIPv4', 'isIPv6', 'STATUS_CODES']);

const IMPORT = /(?:^|\n)import\s(?!type\s)([^;]*?)\sfrom\s'([^']+)'|\bimport\('([^']+)'\)/g;

/** The modules by which a file dials: `src/a.ts: node:net`. A global `fetch` counts. */
function dialsOf(path: string): string[] {
  const text = readFileSync(path, 'utf8');
  const imported = [...text.matchAll(IMPORT)].flatMap(([, names = '', from = '', dynamic = '']) => {
    const values = names
      .replace(/[{}]/g, '')
      .split(',')
      .map((name) => name.trim());
    const isHarmless = !dynamic && values.every((name) => /^(type |$)/.test(name) || HARMLESS.has(name));
    return isHarmless ? [] : [from || dynamic].filter((name) => NETWORK.test(name));
  });
  return [...imported, ...(/\bfetch\(/.test(text) ? ['fetch'] : [])].map((name) => `${path}: ${name}`);
}

const dialsFrom = (entry: string) =>
  [...graphOf(entry).keys()]
    .filter((path) => path.endsWith('.ts'))
    .flatMap(dialsOf)
    .toSorted();

test('of what the web process loads, only sign-in at other sites, traces and the operator’s check of MongoDB dial', () => {
  expect(dialsFrom('src/web.ts')).toEqual([
    'src/accounts/other-sites/guarded-fetch.ts: undici',
    // Only in the text of an example.
    'src/api/description.ts: fetch',
    // The method of its cache, which reads the database.
    'src/api/v1/read/live-streams.ts: fetch',
    // “System” tries the members of the replica set, which the driver dials too.
    'src/platform/mongo-members.ts: node:net',
    // Look-ups for sign-in at a provider that an operator entered in the admin area.
    'src/platform/resolve-address.ts: node:dns/promises',
    'src/platform/tracing/exporter.ts: node:http',
    'src/platform/tracing/exporter.ts: node:https',
  ]);
});

test('the same search finds what a worker dials with', () => {
  expect(dialsFrom('workers/main.ts')).toEqual(
    expect.arrayContaining([
      'src/delivery/peer-connection.ts: node:net',
      'src/delivery/tls.ts: node:tls',
      'src/mail/smtp.ts: nodemailer',
      'src/platform/resolve-address.ts: node:dns/promises',
      'src/probing/ask-server.ts: gamedig',
      'src/probing/udp-connection.ts: node:dgram',
    ]),
  );
});
