import type { CommandStartedEvent, ObjectId } from 'mongodb';
import { beforeEach, describe, expect, it } from 'vitest';
import { removeGoal, setGoal } from '../../src/goals/change-goal.ts';
import { countGoal } from '../../src/goals/count-goal.ts';
import { exportAccount } from '../../src/workflows/export-account.ts';
import { addOwnedServer } from '../support/owned-server.ts';
import { type SignedInUser, signIn } from '../support/sign-in.ts';
import { voteOnPage } from '../support/vote-form.ts';
import { storedVote } from '../support/votes.ts';
import { getPage, sendForm, textOf, webAppOfFile } from '../support/web-app.ts';

const web = webAppOfFile();
let owner: SignedInUser;
let serverId: ObjectId;

beforeEach(async () => {
  owner = await signIn(web());
  serverId = await addOwnedServer(web().deps, owner.userId);
});

const path = () => `/dashboard/servers/${serverId.toHexString()}`;
const dashboard = async (part: string, headers: Record<string, string> = owner.headers) =>
  textOf((await getPage(web(), `${path()}${part}`, headers)).body);
const server = () => web().deps.servers.findOne({ _id: serverId });
const shown = async () => (await server())?.goalId?.toHexString() ?? '';
const set = async (fields: Record<string, string>) =>
  sendForm(web(), `${path()}/goal`, { shown: await shown(), ...fields }, owner.headers);

async function cast(votes: number): Promise<void> {
  const now = web().deps.clock.now();
  const cast = Array.from({ length: votes }, (_, n) => storedVote(serverId, `Player${n}`, now));
  await web().deps.votes.insertMany(cast);
}

describe('the page “Vote goal”', () => {
  it('sets, shows and removes a goal', async () => {
    expect(await dashboard('/goal')).toContain('Votes count from the moment you set the goal');
    const saved = await set({ target: '5', period: 'rolling', text: 'Double <b>experience</b>' });
    expect(saved.headers.location).toBe(`${path()}/goal?done=saved`);
    await cast(13);
    await countGoal(web().deps, serverId);
    const page = await getPage(web(), `${path()}/goal`, owner.headers);
    expect(page.body).toContain('Double &lt;b&gt;experience&lt;/b&gt;');
    expect(textOf(page.body)).toContain('2 to go');
    expect(textOf(page.body)).toMatch(/3 of 5 votes in this round, reached 2 times since/);
    expect(textOf(page.body)).toContain('Round 2');
    const audit = await web().deps.auditLog.findOne({ action: 'goal.set' });
    expect(audit?.by).toBe(owner.email);

    const remove = (fields: Record<string, string>) =>
      sendForm(web(), `${path()}/goal/remove`, fields, owner.headers);
    const seen = { shown: await shown() };
    // An old tab removes or changes no later goal.
    expect((await remove({ shown: '' })).statusCode).toBe(409);
    const old = { target: '9', period: 'day', text: '', shown: '' };
    expect((await set(old)).statusCode).toBe(409);
    for (let press = 0; press < 2; press += 1)
      expect((await remove(seen)).headers.location).toBe(`${path()}/goal?done=removed`);
    const after = await dashboard('/goal');
    expect(after).not.toContain('2 to go');
    expect(after).toContain('Round 2');
  });

  it('stores a sentence without what covers or turns the text around it, and counts one vote in the singular', async () => {
    await set({ target: '1', period: 'day', text: `\u202eZ${'\u0301'.repeat(150)}` });
    await cast(4);
    await countGoal(web().deps, serverId);
    const shown = await dashboard('/goal');
    expect(shown).toContain(`Z${'\u0301'.repeat(4)} 4 of 1 vote today (UTC)`);
    expect(shown).not.toContain('\u202e');
  });

  it('shows a wrong form again with its values', async () => {
    const answer = await set({ target: '0', period: 'day', text: 'A party' });
    expect(answer.statusCode).toBe(400);
    expect(textOf(answer.body)).toContain('The target must be a whole number, 1 to 10,000,000.');
    expect(answer.body).toContain('value="A party"');
    expect((await set({ target: '5', period: '', text: '' })).statusCode).toBe(400);
  });

  it('is not for others, and members who only read cannot change the goal', async () => {
    const other = await signIn(web());
    expect((await getPage(web(), `${path()}/goal`, other.headers)).statusCode).toBe(404);
    const member = { userId: other.userId, role: 'read' as const, at: new Date() };
    await web().deps.servers.updateOne({ _id: serverId }, { $set: { members: [member] } });
    expect((await getPage(web(), `${path()}/goal`, other.headers)).statusCode).toBe(200);
    const form = { target: '5', period: 'day', text: '' };
    expect((await sendForm(web(), `${path()}/goal`, form, other.headers)).statusCode).toBe(403);
  });
});

describe('a goal shows', () => {
  it('on the server’s page, in the result of a vote, in the widget and the banner', async () => {
    await setGoal(web().deps, serverId, { target: 3, period: 'week', text: 'A party' }, 'test');
    const slug = (await server())?.slug ?? '';
    const { location } = (await voteOnPage({ ...web() }, slug, 'Steve')).headers;
    const result = textOf((await getPage(web(), String(location))).body);
    expect(result).toMatch(/Vote goal ?2 to go/);
    expect(result).toContain('A party');
    const page = textOf((await getPage(web(), `/servers/${slug}`)).body);
    expect(page).toContain('1 of 3 votes this week');
    expect((await getPage(web(), `/servers/${slug}/widget`)).body).toContain('vote goal: 2 to go');
    expect((await getPage(web(), `/servers/${slug}/banner.svg`)).body).toContain('Vote goal: 2 to go');
    const german = await getPage(web(), `/servers/${slug}?lang=de`);
    expect(textOf(german.body)).toContain('noch 2');
    expect(await dashboard('')).toMatch(/Vote goal ?Change ?2 to go/);
  });

  it('nowhere when there is none, and a page then asks nothing about it', async () => {
    const slug = (await server())?.slug ?? '';
    const asked: string[] = [];
    const client = web().deps.mongo.connection.getClient();
    const note = ({ commandName, command }: CommandStartedEvent) => {
      if (/goal/.test(String(command[commandName]))) asked.push(`${commandName} ${command[commandName]}`);
    };
    client.on('commandStarted', note);
    for (const part of ['', '/widget', '/banner.svg', '/vote'])
      await getPage(web(), `/servers/${slug}${part}`);
    await dashboard('');
    expect(asked).toEqual([]);
    await setGoal(web().deps, serverId, { target: 3, period: 'week' }, 'test');
    await removeGoal(web().deps, serverId, 'test');
    asked.length = 0;
    await getPage(web(), `/servers/${slug}?players=30d`);
    client.off('commandStarted', note);
    expect(asked).toEqual([]);
  });
});

it('the export of an account has the goal and its rounds', async () => {
  await setGoal(web().deps, serverId, { target: 1, period: 'rolling', text: 'A party' }, 'test');
  await cast(2);
  await countGoal(web().deps, serverId);
  const user = await web().deps.users.findOne({ _id: owner.userId });
  if (!user) throw new Error('no user');
  let file = '';
  for await (const part of exportAccount(web().deps, user)) file += part;
  const { servers } = JSON.parse(file);
  expect(servers).toMatchObject([
    {
      vote_goal: { target: 1, period: 'rolling', text: 'A party', times_reached: 2 },
      goal_rounds: [{ votes: 2 }, { votes: 2 }],
    },
  ]);
});
