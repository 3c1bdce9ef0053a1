import type { CommandStartedEvent } from 'mongodb';
import { expect, test } from 'vitest';
import { setGoal } from '../../src/goals/change-goal.ts';
import { subscribe } from '../events/source-bench.ts';
import { startApp } from '../support/start-app.ts';

/** Collections that the process reads again and again by itself, or writes once a minute. */
const POLLED = new Set(['settings', 'blocks', 'processes', 'restores', 'migrations', 'api_tokens']);

test('a vote of a server with a goal and a subscription has the answer, commands and document of one without', async () => {
  const tallyport = await startApp();
  const { deps } = tallyport;
  const [plain, wanted] = [await tallyport.addServer(), await tallyport.addServer()];
  await setGoal(deps, wanted.serverId, { target: 2, period: 'rolling', text: 'A party' }, 'test');
  await subscribe(deps, wanted.serverId, ['vote.counted', 'milestone']);
  const client = deps.mongo.connection.getClient();
  const during = async (server: typeof plain) => {
    // The first call reads the token, for some seconds, and creates the counter.
    await tallyport.vote(server, 'Steve');
    await deps.voteCounts.flush();
    const commands: string[] = [];
    const note = ({ databaseName, commandName, command }: CommandStartedEvent) => {
      const collection = command[commandName];
      if (typeof collection !== 'string') return;
      if (databaseName === deps.mongo.db.databaseName && !POLLED.has(collection))
        commands.push(`${commandName} ${collection}`);
    };
    client.on('commandStarted', note);
    const { status, body } = await tallyport.vote(server, 'Alex');
    await deps.voteCounts.flush();
    client.off('commandStarted', note);
    const stored = await deps.votes.findOne({ serverId: server.serverId, username: 'Alex' });
    return {
      status,
      fields: Object.keys(body as object),
      commands: commands.toSorted(),
      stored: Object.keys(stored ?? {}),
    };
  };
  const one = await during(plain);
  expect(one.status).toBe(200);
  expect(one.commands).toContain('insert votes');
  expect(await during(wanted)).toEqual(one);
  expect(await deps.events.countDocuments()).toBe(0);
  await tallyport.close();
});
