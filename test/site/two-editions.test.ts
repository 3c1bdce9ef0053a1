import { type CommandStartedEvent, type ObjectId, UUID } from 'mongodb';
import { beforeEach, expect, it } from 'vitest';
import { recomputeRanks } from '../../src/ranking/recompute-ranks.ts';
import { editServer } from '../../src/servers/listed-servers.ts';
import { findMove } from '../../src/servers/moves.ts';
import { addOwnedServer } from '../support/owned-server.ts';
import { type SignedInUser, signIn } from '../support/sign-in.ts';
import { voteOnPage } from '../support/vote-form.ts';
import { getPage, sendForm, textOf, webAppOfFile } from '../support/web-app.ts';
import { namesIn } from './listing.ts';

const web = webAppOfFile();
let owner: SignedInUser;
let serverId: ObjectId;

beforeEach(async () => {
  owner = await signIn(web());
  serverId = await addOwnedServer(web().deps, owner.userId, { game: 'minecraft' });
});

const settings = () => `/dashboard/servers/${serverId.toHexString()}/settings`;
const server = () => web().deps.servers.findOne({ _id: serverId });
const setSecond = (address: string | null, port: number | null = null) =>
  editServer(web().deps, serverId, { secondAddress: address, secondPort: port }, 'test');

it('the page of a server has both addresses with a button each, and the steps of both editions', async () => {
  await setSecond('bedrock.example.org', 19_133);
  const { body } = await getPage(web(), '/servers/alpha-craft');
  expect(body).toContain('data-copy="play.example.org:25565"');
  expect(body).toContain('data-copy="bedrock.example.org:19133"');
  const text = textOf(body);
  expect(text).toMatch(/Java Edition ?play.example.org:25565.*Bedrock Edition ?bedrock.example.org:19133/s);
  expect(text).toContain('Enter the address bedrock.example.org and the port 19133.');
  const german = await getPage(web(), '/servers/alpha-craft?lang=de');
  expect(textOf(german.body)).toContain('Gib die Adresse bedrock.example.org und den Port 19133 ein.');
});

it('lists have a button for each address, and the search finds the server by either', async () => {
  await setSecond('bedrock.example.org', 19_133);
  await recomputeRanks(web().deps);
  for (const path of [
    '/',
    '/?q=bedrock.example.org',
    '/?q=bedrock.example.org:19133',
    '/?q=play.example.org:25565',
  ]) {
    const { body } = await getPage(web(), path);
    expect(namesIn(body), path).toEqual(['Alpha Craft']);
    expect(body).toContain('data-copy="bedrock.example.org:19133"');
    expect(body).toContain('title="Copy address: Bedrock Edition"');
  }
  expect(namesIn((await getPage(web(), '/?q=bedrock.example.org:19132')).body)).toEqual(['Alpha Craft']);
  const operator = await signIn(web(), { role: 'operator', email: 'operator@example.org' });
  const found = await getPage(web(), '/operator/servers?q=bedrock.example', operator.headers);
  expect(textOf(found.body)).toContain('Alpha Craft');
});

it('a page and a list make the same queries for a server with two addresses and one', async () => {
  await recomputeRanks(web().deps);
  const client = web().deps.mongo.connection.getClient();
  const commandsOf = async (path: string) => {
    const asked: string[] = [];
    const note = ({ commandName }: CommandStartedEvent) => asked.push(commandName);
    client.on('commandStarted', note);
    await getPage(web(), path);
    client.off('commandStarted', note);
    return asked.toSorted();
  };
  const paths = ['/servers/alpha-craft?players=30d', '/?q=play.example.org'];
  const first: string[][] = [];
  for (const path of paths) {
    // The first request fills caches.
    await commandsOf(path);
    first.push(await commandsOf(path));
  }
  await setSecond('bedrock.example.org');
  for (const [at, path] of paths.entries()) expect(await commandsOf(path), path).toEqual(first[at]);
});

it('an owner plans a second address, sees its code, and discards it', async () => {
  const fields = { secondAddress: 'Bedrock.Example.org', secondPort: '' };
  const sent = await sendForm(web(), `${settings()}/second`, fields, owner.headers);
  // No worker runs here, so nothing was checked; the address waits for its proof.
  expect(sent.statusCode).toBe(503);
  const move = await findMove(web().deps, serverId, 'second');
  expect(move).toMatchObject({ address: 'bedrock.example.org', port: 19_132, game: 'mbe' });
  expect(await server()).not.toHaveProperty('second');
  const page = await getPage(web(), settings(), owner.headers);
  expect(textOf(page.body)).toContain('bedrock.example.org:19132 is added after you verify ownership.');
  expect(page.body).toContain(move?.code);
  await sendForm(web(), `${settings()}/second/discard`, {}, owner.headers);
  expect(await findMove(web().deps, serverId, 'second')).toBeNull();
});

it('an owner removes the second address', async () => {
  await setSecond('bedrock.example.org');
  const page = await getPage(web(), settings(), owner.headers);
  expect(textOf(page.body)).toContain('bedrock.example.org:19132 is no longer shown and no longer checked.');
  const removed = await sendForm(web(), `${settings()}/second/remove`, {}, owner.headers);
  expect(removed.headers.location).toBe(`${settings()}?done=second-removed`);
  expect(await server()).not.toHaveProperty('second');
});

it('wrong fields and another server’s address are refused beside their fields', async () => {
  const other = await signIn(web(), { email: 'other@example.org' });
  await addOwnedServer(web().deps, other.userId, {
    name: 'Other',
    address: 'b.example.org',
    port: 19_132,
    game: 'mbe',
  });
  const cases: [Record<string, string>, string][] = [
    [{ secondAddress: '', secondPort: '' }, 'Enter the second address.'],
    [{ secondAddress: '', secondPort: '19132' }, 'Enter the address for this port too.'],
    [{ secondAddress: 'x.example.org', secondPort: '99999' }, 'must be a whole number, 1 to 65535'],
    [{ secondAddress: 'b.example.org', secondPort: '' }, 'Another server is listed there.'],
  ];
  for (const [fields, sentence] of cases) {
    const answer = await sendForm(web(), `${settings()}/second`, fields, owner.headers);
    expect([answer.statusCode, textOf(answer.body)]).toEqual([400, expect.stringContaining(sentence)]);
  }
  expect(await findMove(web().deps, serverId, 'second')).toBeNull();
});

it('a server of another game has no card for a second address', async () => {
  const { deps } = web();
  await editServer(deps, serverId, { game: 'rust' }, 'test');
  expect((await getPage(web(), settings(), owner.headers)).body).not.toContain('/settings/second');
});

it('the vote form of a Bedrock server with a Java address takes gamertags and names of Java Edition', async () => {
  const { deps } = web();
  await editServer(
    deps,
    serverId,
    { game: 'mbe', secondAddress: 'play.example.org', secondPort: 25_565 },
    'test',
  );
  for (const [at, name] of ['Cool Gamer 1', 'Steve_01'].entries()) {
    const answer = await voteOnPage(web(), 'alpha-craft', name, { address: `203.0.113.${at + 1}` });
    expect([answer.statusCode, name]).toEqual([303, name]);
    expect(await deps.votes.countDocuments({ serverId, username: name })).toBe(1);
  }
  const page = await getPage(web(), settings(), owner.headers);
  expect(page.body).toMatch(/name="bedrockPlain"[^>]*checked/);
  // The owner chooses the prefix of Floodgate.
  await sendForm(web(), `${settings()}/bedrock-prefix`, { bedrockPrefix: '.' }, owner.headers);
  const vote = (name: string, address: string) => voteOnPage(web(), 'alpha-craft', name, { address });
  await expect(vote('Cool Gamer 2', '203.0.113.8')).rejects.toThrow('begins with “.” here');
  expect((await vote('.Cool_Gamer_2', '203.0.113.9')).statusCode).toBe(303);
});

it('the overview of the owner tells the state of each address', async () => {
  await setSecond('bedrock.example.org');
  const now = web().deps.clock.now();
  const offline = { status: 'offline', checkedAt: now, failures: 3, failuresByHand: 0, intervalSeconds: 300 };
  await web().deps.servers.updateOne({ _id: serverId }, {
    $set: { 'second.state': offline, 'probe.claim': new UUID() },
  } as never);
  const text = textOf((await getPage(web(), settings().replace('/settings', ''), owner.headers)).body);
  expect(text).toMatch(/Bedrock Edition ?bedrock.example.org:19132 offline/);
});
