import { ObjectId } from 'mongodb';
import { expect, test } from 'vitest';
import { checkServer } from '../../src/probing/check-server.ts';
import { takeDueServers } from '../../src/probing/take-due-probes.ts';
import { recomputeRanks } from '../../src/ranking/recompute-ranks.ts';
import { addServer, editServer, findServer } from '../../src/servers/listed-servers.ts';
import { addOwnedServer } from '../support/owned-server.ts';
import { signIn } from '../support/sign-in.ts';
import { testDeps } from '../support/test-deps.ts';
import { getPage, openWebApp } from '../support/web-app.ts';

const SETTINGS = { name: 'Pals', address: 'pals.example.org', port: 8_211, game: 'Palworld' };

test('a server of a game that cannot be queried is listed with its game and never probed', async () => {
  const deps = await testDeps();
  const { serverId } = await addServer(deps, SETTINGS, 'cli');
  const server = await findServer(deps, serverId);
  expect(server?.game).toBe('palworld');
  expect(await takeDueServers(deps)).toBe(0);
  if (!server) throw new Error('not listed');
  const asked = () => Promise.reject(new Error('it was queried'));
  const canary = { note: () => undefined, works: async () => true };
  expect(await checkServer({ ...deps, ask: asked, canary }, server)).toEqual({ kind: 'no-game' });

  // A new address changes nothing, another game does.
  const id = new ObjectId(serverId);
  await editServer(deps, id, { port: 8_212 }, 'cli');
  expect(await takeDueServers(deps)).toBe(0);
  await editServer(deps, id, { game: 'minecraft' }, 'cli');
  expect(await takeDueServers(deps)).toBe(1);
  await editServer(deps, id, { game: 'palworld' }, 'cli');
  expect(await takeDueServers(deps)).toBe(0);
});

test('its pages say that it is not probed, and the list of its game has it', async () => {
  const web = await openWebApp();
  const { userId, headers } = await signIn(web);
  const serverId = await addOwnedServer(web.deps, userId, SETTINGS);
  await recomputeRanks(web.deps);
  const page = (await getPage(web, '/servers/pals')).body;
  expect(page).toContain('<a href="/games/palworld">Palworld</a>');
  expect(page).toContain('Not probed</p>');
  expect(page).toContain(
    'We do not check Palworld servers: they answer only to a password or key of their owner. The status comes from the server’s own reports.',
  );
  expect(page).not.toMatch(/not known yet|not checked yet|Not seen online yet/);
  const list = (await getPage(web, '/games/palworld')).body;
  expect(list).toContain('/servers/pals');
  expect(list).toContain('Not checked</span>');
  const overview = (await getPage(web, `/dashboard/servers/${serverId.toHexString()}`, headers)).body;
  expect(overview).toContain('Palworld (not probed: status from reports only)');
  const form = (await getPage(web, '/dashboard/servers/new', headers)).body;
  expect(form).toContain('<option value="Palworld">');
});
