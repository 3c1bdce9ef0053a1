import { afterAll, beforeAll, expect, test } from 'vitest';
import { startApp, type TestDeps } from '../support/start-app.ts';

let tallyport: TestDeps;
beforeAll(async () => {
  tallyport = await startApp({ STEAM_SIGN_IN: 'on' });
});
afterAll(() => tallyport.close());

async function namesOf(fields: object) {
  const server = await tallyport.addServer();
  await tallyport.deps.servers.updateOne({ _id: server.serverId }, { $set: fields });
  const { status, body } = await tallyport.call(server, 'player-names');
  expect(status).toBe(200);
  return body;
}

test.each([
  [{ game: 'minecraft' }, 'minecraft', '.'],
  [{ game: 'minecraft', bedrockPrefix: '*' }, 'minecraft', '*'],
  [{ game: 'minecraft', bedrockPrefix: '' }, 'minecraft', ''],
  [{ game: 'rust', bedrockPrefix: '*' }, 'steam', null],
  [{ game: null }, 'name', null],
])('a server with %j takes the names of the kind %s with the prefix %j', async (fields, kind, prefix) => {
  expect(await namesOf(fields)).toEqual({
    kind,
    bedrock_prefix: prefix,
    bedrock_without_prefix: false,
    bedrock_spaces: false,
    offline_mode: false,
    proven_only: false,
  });
});

test('the owner’s further choices are told, for a server of Java Edition', async () => {
  const playerNames = { offlineMode: true, bedrockPlain: true, bedrockSpaces: true };
  expect(await namesOf({ game: 'minecraft', playerNames })).toMatchObject({
    bedrock_prefix: '',
    bedrock_without_prefix: true,
    bedrock_spaces: true,
    offline_mode: true,
  });
  expect(await namesOf({ game: 'rust', playerNames })).toMatchObject({ offline_mode: false });
});

test('only servers whose players have SteamIDs can require proven ones', async () => {
  expect(await namesOf({ game: 'rust', provenIdOnly: true })).toMatchObject({ proven_only: true });
  expect(await namesOf({ game: 'minecraft', provenIdOnly: true })).toMatchObject({ proven_only: false });
});
