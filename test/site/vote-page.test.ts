import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import type { User } from '../../src/accounts/user.ts';
import { after, DAY } from '../../src/platform/clock.ts';
import { voteFigures } from '../../src/votes/vote-figures.ts';
import { PASSWORD, signIn } from '../support/sign-in.ts';
import { stoppedClock } from '../support/stopped-clock.ts';
import { postVoteForm, voteOnPage } from '../support/vote-form.ts';
import { getPage, openWebApp, sendForm, textOf, webAppOfFile } from '../support/web-app.ts';
import { nextMorning, voteOf, withServer } from './vote-server.ts';

const clock = stoppedClock();
let skewMs = 0;
const web = webAppOfFile({}, { clock, clockSkew: () => skewMs });

beforeEach(() => clock.set(nextMorning(clock)));

describe('the vote form', () => {
  it('counts a vote with a proof of work, and leads to the page of the vote', async () => {
    const open = await withServer(web());
    const answer = await voteOnPage(open, open.slug, 'Steve');

    expect(answer.statusCode).toBe(303);
    const vote = await voteOf(open, 'Steve');
    expect(vote).toMatchObject({ source: 'web', tokenId: null, delivery: { state: 'none' } });
    expect(answer.headers.location).toBe(`/servers/${open.slug}/vote/${vote?._id.toString()}`);
    const page = await getPage(open, String(answer.headers.location));
    expect(textOf(page.body)).toMatch(/Your vote counts, Steve ?\. .*Alpha Craft has 1 vote this month/);
    await open.deps.voteCounts.flush();
    expect((await voteFigures(open.deps, open.serverId)).monthlyVotes).toBe(1);
  });

  it('is on the page of the server, and its own page fills in the name of a link', async () => {
    const open = await withServer(web());
    expect((await getPage(open, `/servers/${open.slug}`)).body).toContain(
      `action="/servers/${open.slug}/vote"`,
    );
    const linked = await getPage(open, `/servers/${open.slug}/vote?username=Alex%20%3Cb%3E`);
    expect(linked.body).toContain('value="Alex &lt;b&gt;"');
    // The field tells phones not to change the name.
    const [field] = /<input id="username"[^>]*>/.exec(linked.body) ?? [];
    for (const attribute of ['autocapitalize="none"', 'autocorrect="off"', 'spellcheck="false"'])
      expect(field).toContain(attribute);
  });

  it('tells a player who voted in the last 24 hours when the next vote is possible', async () => {
    const open = await withServer(web());
    await voteOnPage(open, open.slug, 'Steve');
    const again = await voteOnPage(open, open.slug, 'STEVE', { address: '198.51.100.1' });

    expect(again.statusCode).toBe(429);
    const vote = await voteOf(open, 'Steve');
    const next = new Date((vote?.votedAt.getTime() ?? 0) + DAY).toISOString();
    expect(again.json()).toMatchObject({ code: 'cooldown', next_vote_at: next });
    expect(again.json<{ error: string }>().error).toContain('“Steve” voted for this server');
    expect(Number(again.headers['retry-after'])).toBeGreaterThan(86_000);
  });

  it('shows a browser the form again, with the reason of the refusal', async () => {
    const open = await withServer(web());
    const answer = await sendForm(open, `/servers/${open.slug}/vote`, { username: 'Steve', proof: '' });
    expect(answer.statusCode).toBe(400);
    expect(textOf(answer.body)).toContain(
      'A vote without an account needs JavaScript. Allow it for this page, or sign in',
    );
    expect(answer.body).toContain('value="Steve"');
  });

  it('needs no proof from a user with an established account, who counts as one player', async () => {
    const open = await withServer(web());
    const { headers } = await signIn(open, { days: 8 });
    const vote = (username: string) => sendForm(open, `/servers/${open.slug}/vote`, { username }, headers);
    expect((await vote('Steve')).statusCode).toBe(303);
    const other = await vote('Alex');
    expect(other.statusCode).toBe(429);
    expect(textOf(other.body)).toContain('An account counts as one player.');
    expect(await voteOf(open, 'Alex')).toBeNull();
    expect((await getPage(open, `/servers/${open.slug}/vote`, headers)).body).not.toContain('data-vote');
  });

  it('treats an account that is younger than 7 days as none, and says so', async () => {
    const open = await withServer(web());
    const { headers } = await signIn(open, { days: 6 });
    const page = await getPage(open, `/servers/${open.slug}/vote`, headers);
    expect(page.body).toContain('data-vote');
    expect(textOf(page.body)).toContain('Your account is younger than 7 days');
    const without = await sendForm(open, `/servers/${open.slug}/vote`, { username: 'Steve' }, headers);
    expect(textOf(without.body)).toContain(
      'A vote without an account needs JavaScript. Allow it for this page, or sign in',
    );
    for (const name of ['Steve', 'Alex'])
      expect((await voteOnPage(open, open.slug, name, { headers })).statusCode).toBe(303);
  });

  it('treats an account as none while its address is unconfirmed, and for 7 days after it changed', async () => {
    const open = await withServer(web());
    const { headers, userId } = await signIn(open, { days: 8 });
    const set = (fields: Partial<User>) => open.deps.users.updateOne({ _id: userId }, { $set: fields });
    const needsProof = async () =>
      (await getPage(open, `/servers/${open.slug}/vote`, headers)).body.includes('data-vote');
    expect(await needsProof()).toBe(false);
    await set({ emailVerified: false });
    expect(await needsProof()).toBe(true);
    await set({ emailVerified: true });
    expect(await needsProof()).toBe(false);

    const changed = { email: 'moved@example.org', password: PASSWORD };
    expect((await sendForm(open, '/account/email', changed, headers)).statusCode).toBe(303);
    await set({ emailVerified: true });
    expect(await needsProof()).toBe(true);
    const without = await sendForm(open, `/servers/${open.slug}/vote`, { username: 'Steve' }, headers);
    expect(textOf(without.body)).toContain(
      'A vote without an account needs JavaScript. Allow it for this page, or sign in',
    );
    await set({ emailChangedAt: after(open.deps.clock.now(), -7 * DAY) });
    expect(await needsProof()).toBe(false);
  });

  it('says how many players of one network may vote', async () => {
    const open = await withServer(web());
    expect(textOf((await getPage(open, `/servers/${open.slug}/vote`)).body)).toContain(
      'On one day, 4 new players of one network can vote for a server. Over all servers, the votes of 6 count at once;',
    );
  });

  it('is switched off by the owner for a server, and by the operator for all', async () => {
    const open = await withServer(web());
    await open.deps.servers.updateOne({ _id: open.serverId }, { $set: { webVotes: false } });
    for (const path of ['vote', 'vote/challenge']) {
      const refused = await postVoteForm(open, `${open.slug}/${path}`, { username: 'Steve' });
      expect([refused.statusCode, refused.json()]).toMatchObject([403, { code: 'web-votes-off' }]);
    }
    expect(textOf((await getPage(open, `/servers/${open.slug}/vote`)).body)).toContain(
      'The owner has switched off votes on this page.',
    );

    const off = await withServer(open, 'Beta Craft', 'beta.example.org');
    off.deps.config.WEB_VOTES = 'off';
    onTestFinished(() => {
      off.deps.config.WEB_VOTES = 'on';
    });
    expect((await postVoteForm(off, `${off.slug}/vote`, { username: 'Steve' })).statusCode).toBe(403);
    expect((await getPage(off, `/servers/${off.slug}`)).body).not.toContain('name="username" type="text"');
  });
});

it('casts nothing while the clock is wrong, or while a unique index is missing', async () => {
  const open = await withServer(web());
  skewMs = 5_000;
  const off = await voteOnPage(open, open.slug, 'Steve');
  skewMs = 0;
  expect([off.statusCode, off.json()]).toMatchObject([503, { code: 'clock-wrong' }]);

  const unprepared = await withServer(await openWebApp());
  const { votes } = unprepared.deps;
  const unique = 'serverId_1_usernameKey_1_seq_1';
  await votes.dropIndex(unique);
  const early = await voteOnPage(unprepared, unprepared.slug, 'Steve');
  expect([early.statusCode, early.json()]).toMatchObject([503, { code: 'database-not-ready' }]);
  await votes.createIndex({ serverId: 1, usernameKey: 1, seq: 1 }, { unique: true });
  expect((await voteOnPage(unprepared, unprepared.slug, 'Steve')).statusCode).toBe(303);
});

it('no page that visitors share has a player’s name in its form: the browser fills it in', async () => {
  const open = await withServer(web());
  await voteOnPage(open, open.slug, 'Steve');
  const { headers } = await signIn(open, { days: 8 });
  await sendForm(open, `/servers/${open.slug}/vote`, { username: 'Alex' }, headers);
  // The user's own page comes first, so that a mistake in the cache would show it to the visitor.
  expect((await getPage(open, `/servers/${open.slug}`, headers)).body).toContain('value="Alex"');
  for (const path of [`/servers/${open.slug}`, `/servers/${open.slug}/vote`]) {
    const { body } = await getPage(open, path);
    const [form = ''] = /<form method="post" action="[^"]+\/vote".*?<\/form>/s.exec(body) ?? [];
    expect(form, path).toMatch(/data-name-kind="name"\s+data-remember/);
    expect(form, path).toMatch(/<input id="[^"]*" name="username"[^>]* value=""/);
    expect(form, path).not.toMatch(/Steve|Alex/);
  }
});
