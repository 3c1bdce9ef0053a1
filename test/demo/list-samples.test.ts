import { expect, it } from 'vitest';
import { isForSamples } from '../../src/demo/list-samples.ts';
import { addServer } from '../../src/servers/listed-servers.ts';
import { signIn } from '../support/sign-in.ts';
import { testDeps } from '../support/test-deps.ts';

it('a demo accepts an empty database and the database of an earlier demo, and no other', async () => {
  const place = { name: 'Real', address: 'play.example.org', port: 30_000 };
  const fresh = await testDeps();
  const demos = await testDeps();
  const listed = await testDeps();
  const withUsers = await testDeps();
  await addServer(demos, { ...place, name: 'Sample' }, 'demo');
  await addServer(demos, place, 'somebody@example.org');
  await addServer(listed, place, 'cli');
  await signIn({ deps: withUsers }, { role: 'operator' });
  const found = await Promise.all([fresh, demos, listed, withUsers].map(isForSamples));
  expect(found).toEqual([true, true, false, false]);
});
