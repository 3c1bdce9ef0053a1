import { globSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { t } from '../../src/language/t.ts';
import { DAY } from '../../src/platform/clock.ts';
import { loadConfig } from '../../src/platform/config.ts';
import { BROWSER_DATA, STORED_DATA, type StoredData } from '../../src/site/stored-data.ts';
import { testDeps } from '../support/test-deps.ts';

const config = loadConfig({ NODE_ENV: 'test' });

it('names every collection of a migrated database, and its TTL index', async () => {
  const deps = await testDeps();
  const found = await deps.mongo.db.listCollections().toArray();
  const actual = new Map<string, StoredData['ttl']>();
  for (const { name, type } of found) {
    if (name.startsWith('system.')) continue;
    const indexes = type === 'timeseries' ? [] : await deps.mongo.db.collection(name).indexes();
    const ttls = indexes.filter(({ expireAfterSeconds }) => expireAfterSeconds !== undefined);
    actual.set(
      name,
      ttls.map(({ key, expireAfterSeconds }) => ({
        field: Object.keys(key)[0] ?? '',
        seconds: Number(expireAfterSeconds),
      })),
    );
  }
  const keys = Object.keys(STORED_DATA) as (keyof typeof STORED_DATA)[];
  const listed = new Map(keys.map((key) => [deps[key].collectionName, STORED_DATA[key]]));
  expect([...listed.keys()].toSorted()).toEqual([...actual.keys()].toSorted());
  for (const [name, stored] of listed) {
    // For collections without personal data, the TTL does not matter.
    if (stored) expect([name, [stored.ttl ?? []].flat()]).toEqual([name, actual.get(name)]);
  }
});

it('names everything that the scripts of the pages store in the browser', () => {
  const scripts = globSync('src/site/scripts/*.js').map((path) => readFileSync(path, 'utf8'));
  const stored = scripts.flatMap((script) => [...script.matchAll(/(\w+Storage)\.setItem\('([^']+)'/g)]);
  const found = stored.map(([, storage = '', key = '']) => [key, storage] as const);
  const named = Object.entries(BROWSER_DATA).map(([key, { storage }]) => [key, storage] as const);
  expect(Object.fromEntries(named)).toEqual(Object.fromEntries(found));
});

it.each(
  Object.entries(STORED_DATA).flatMap(([name, stored]) => (stored ? [[name, stored] as const] : [])),
)('says in words how long %s are stored', (_name, { kept, ttl, ...words }) => {
  for (const text of [kept(config), ...Object.values(words).map((one) => t(one))])
    expect(text).toMatch(/\w{3,}/);
  // A TTL of more than an hour counts from the creation or the closing of a document, so the page must name this time.
  for (const { seconds } of [ttl ?? []].flat())
    if (seconds > 3_600) expect(kept(config)).toContain(`${(seconds * 1_000) / DAY} days`);
});
