import { ObjectId } from 'mongodb';
import { expect, test, vi } from 'vitest';
import { removeLiveMessage, setLiveMessage } from '../../src/events/live-status/live-messages.ts';
import { QUICK } from '../support/delivering.ts';
import { EVENTUALLY } from '../support/eventually.ts';
import { startFakeDiscord } from '../support/fake-discord.ts';
import { addOwnedServer } from '../support/owned-server.ts';
import { testDeps } from '../support/test-deps.ts';
import { startScheduler, startWorker } from '../support/workers.ts';

test('a worker posts the live status as soon as it is set, and deletes it as soon as it is removed', async () => {
  const discord = await startFakeDiscord();
  const deps = await testDeps({ ...QUICK, DISCORD_API_URL: discord.url });
  const serverId = await addOwnedServer(deps, new ObjectId());
  await startWorker(deps.config, { args: ['update-live-messages'] });
  await setLiveMessage(deps, serverId, discord.address, 'test');
  await vi.waitFor(() => {
    expect([...discord.shown.values()]).toMatchObject([{ edits: [expect.any(Date)] }]);
  }, EVENTUALLY);
  await removeLiveMessage(deps, serverId, 'test');
  await vi.waitFor(async () => {
    expect(discord.shown.size).toBe(0);
    expect(await deps.liveMessages.countDocuments()).toBe(0);
  }, EVENTUALLY);
});

test('if Redis lost its job, the scheduler finds it', async () => {
  const discord = await startFakeDiscord();
  const deps = await testDeps({ ...QUICK, DISCORD_API_URL: discord.url });
  const serverId = await addOwnedServer(deps, new ObjectId());
  await setLiveMessage(deps, serverId, discord.address, 'test');
  await deps.queues['update-live-messages'].obliterate({ force: true });
  await startWorker(deps.config, { args: ['update-live-messages'] });
  await startScheduler(deps.config);
  await vi.waitFor(() => expect(discord.shown.size).toBe(1), EVENTUALLY);
});
