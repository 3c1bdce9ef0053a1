import { Binary, ObjectId, UUID } from 'mongodb';
import { beforeEach, describe, expect, it } from 'vitest';
import { addFavourite } from '../../src/favourites/favourites.ts';
import { after, DAY, HOUR, MINUTE } from '../../src/platform/clock.ts';
import { recomputeRanks } from '../../src/ranking/recompute-ranks.ts';
import { issueToken } from '../../src/servers/api-tokens.ts';
import { setUses } from '../support/limits.ts';
import { signIn } from '../support/sign-in.ts';
import { stoppedClock } from '../support/stopped-clock.ts';
import { voteOnPage } from '../support/vote-form.ts';
import { getPage, sendForm, textOf, webAppOfFile } from '../support/web-app.ts';
import { nextMorning, withServer } from './vote-server.ts';

const clock = stoppedClock();
const web = webAppOfFile({}, { clock });

beforeEach(() => clock.set(nextMorning(clock)));

describe('the page of a vote', () => {
  it('names the network as the reason if it is the reason, and says what helps', async () => {
    const open = await withServer(web());
    const beta = await withServer(open, 'Beta Craft', 'beta.example.org');
    for (const name of ['Ann', 'Ben', 'Cleo', 'Dan']) await voteOnPage(open, open.slug, name);
    for (const name of ['Eve', 'Finn']) await voteOnPage(open, beta.slug, name);
    const { location } = (await voteOnPage(open, beta.slug, 'Gus')).headers;
    const page = textOf((await getPage(open, String(location))).body);
    expect(page).toMatch(/Your vote waits for a check, Gus ?\./);
    expect(page).toContain('Your vote is stored, but does not count yet');
    expect(page).toContain('The reason is your network: more new players than usual voted from it.');
    expect(page).toContain('sign in with an account that is older than 7 days');
    expect(page).not.toContain('look unusual');
  });

  it('names the server’s many new players as the reason when they are', async () => {
    const open = await withServer(web());
    await setUses(open.deps, 'new-web-voters', `${open.serverId}:firsts`, 20);
    const { location } = (await voteOnPage(open, open.slug, 'Steve')).headers;
    const page = textOf((await getPage(open, String(location))).body);
    expect(page).toContain('This is not because of you: many new players are voting for Alpha Craft now.');
  });

  it('is no page for another server, an unknown vote or an id that is none', async () => {
    const open = await withServer(web());
    const other = await withServer(open, 'Beta Craft', 'beta.example.org');
    const { location } = (await voteOnPage(open, open.slug, 'Steve')).headers;
    const voteId = String(location).split('/').at(-1);
    for (const path of [
      `${other.slug}/vote/${voteId}`,
      `${open.slug}/vote/${new UUID()}`,
      `${open.slug}/vote/x`,
    ])
      expect((await getPage(open, `/servers/${path}`)).statusCode).toBe(404);
  });
});

describe('the vote page of a player in the cooldown', () => {
  it('shows when the next vote is possible instead of the form', async () => {
    const open = await withServer(web());
    await voteOnPage(open, open.slug, 'Steve');
    const next = after(clock.now(), DAY).toISOString();
    clock.move(HOUR);
    const page = async (query = '') => (await getPage(open, `/servers/${open.slug}/vote${query}`)).body;
    const waiting = await page('?username=STEVE');
    expect(textOf(waiting)).toMatch(/STEVE has voted for Alpha Craft ?\./);
    expect(waiting).toContain(`data-next-vote="${next}"`);
    expect(textOf(waiting)).toContain('23:00:00 left');
    expect(waiting).toContain(`/vote/reminder.ics?at=${encodeURIComponent(next)}`);
    expect(waiting).not.toContain('<form method="post" action="/servers/alpha-craft/vote"');

    // Another player, and nobody: the form.
    for (const query of ['?username=Alex', '?username=', ''])
      expect(await page(query)).toContain('<form method="post" action="/servers/alpha-craft/vote"');
    clock.move(23 * HOUR);
    expect(await page('?username=Steve')).toContain('<form method="post" action="/servers/alpha-craft/vote"');
  });

  it('is what a browser gets for a second vote, and other refusals stay clear', async () => {
    const open = await withServer(web());
    const { headers } = await signIn(open, { days: 8 });
    const vote = (username: string) => sendForm(open, `/servers/${open.slug}/vote`, { username }, headers);
    await vote('Steve');
    const again = await vote('Steve');
    expect(again.statusCode).toBe(429);
    expect(again.body).toContain('data-next-vote=');
    expect(again.body).not.toContain('role="alert"');
    const other = await vote('Alex');
    expect(other.body).toMatch(/role="alert"[^>]*>[^<]*An account counts as one player\./);
  });

  it('is for a user the page of the name in the account', async () => {
    const open = await withServer(web());
    const { headers } = await signIn(open, { days: 8 });
    const form = async () => (await getPage(open, `/servers/${open.slug}/vote`, headers)).body;
    expect(await form()).not.toContain('value="Steve"');
    const beta = await withServer(open, 'Beta Craft', 'beta.example.org');
    await sendForm(open, `/servers/${beta.slug}/vote`, { username: 'Steve' }, headers);
    expect(await form()).toContain('value="Steve"');
    expect((await getPage(open, `/servers/${open.slug}`, headers)).body).toContain('value="Steve"');
    // A game whose players vote with SteamIDs.
    await open.deps.servers.updateOne({ _id: open.serverId }, { $set: { game: 'rust' } });
    expect(await form()).not.toContain('Steve');
    await open.deps.servers.updateOne({ _id: open.serverId }, { $set: { game: 'minecraft' } });
    await sendForm(open, `/servers/${open.slug}/vote`, { username: 'Steve' }, headers);
    expect(await form()).toContain('data-next-vote=');
  });
});

describe('the page after a vote', () => {
  /** Votes as Steve and changes the stored vote. Returns the text of its page. */
  async function pageWith(change: Record<string, unknown>): Promise<string> {
    const open = await withServer(web());
    const { location } = (await voteOnPage(open, open.slug, 'Steve')).headers;
    await open.deps.votes.updateOne({ serverId: open.serverId }, { $set: change });
    return textOf((await getPage(open, String(location))).body);
  }
  /** A time of the test's day, in milliseconds after the vote. */
  const at = (ms: number) => after(clock.now(), ms);
  const attempt = (fields: Record<string, unknown>) => ({
    id: new UUID(),
    at: at(100),
    worker: 'w',
    protocol: 'votifier-v2',
    revision: 1,
    test: false,
    ...fields,
  });

  it.each<[string, () => Record<string, unknown>, string]>([
    [
      'arrived',
      () => ({ 'delivery.state': 'delivered', 'delivery.deliveredAt': at(312) }),
      'Arrived in 0.3 s.',
    ],
    [
      'arrived much later',
      () => ({ 'delivery.state': 'delivered', 'delivery.deliveredAt': at(3 * MINUTE) }),
      'Arrived in 3 minutes.',
    ],
    [
      'was fetched and arrived',
      () => ({
        'delivery.state': 'delivered',
        'delivery.deliveredAt': at(2_100),
        'delivery.attempts': [attempt({ protocol: 'fetch', code: 'acknowledged', class: 'delivered' })],
      }),
      'was fetched by the game server and arrived in 2.1 s.',
    ],
    [
      'is being fetched',
      () => ({ 'delivery.state': 'sending', 'delivery.attempts': [attempt({ protocol: 'fetch' })] }),
      'The game server has fetched your vote.',
    ],
    ['waits', () => ({ 'delivery.state': 'waiting' }), 'Your vote is on its way to the game server.'],
    ['is not sent', () => ({}), 'This listing sends no votes to this server.'],
    [
      'was claimed',
      () => ({ claim: { at: at(5_000), tokenId: new ObjectId() } }),
      'A plugin of the server has claimed your vote for the reward.',
    ],
    ['failed', () => ({ 'delivery.state': 'failed' }), 'the game server did not take it'],
    ['was not answered', () => ({ 'delivery.state': 'unconfirmed' }), 'the game server did not answer'],
  ])('says that the vote %s', async (_how, change, text) => {
    const page = await pageWith(change());
    expect(page).toMatch(/Your vote counts, Steve ?\./);
    expect(page).toContain(text);
  });

  it('says that the server collects its votes if it has a claim key and no listener', async () => {
    const open = await withServer(web());
    await issueToken(open.deps, { serverId: open.serverId, name: 'EasyVote', kind: 'claim' });
    const { location } = (await voteOnPage(open, open.slug, 'Steve')).headers;
    const page = textOf((await getPage(open, String(location))).body);
    expect(page).toContain('Counted. The server collects its votes itself.');
    expect(page).not.toContain('sends no votes');
  });

  it('refreshes only the part about the vote, and not while nothing has changed', async () => {
    const open = await withServer(web());
    const { location } = (await voteOnPage(open, open.slug, 'Steve')).headers;
    await open.deps.votes.updateOne({ serverId: open.serverId }, { $set: { 'delivery.state': 'waiting' } });
    const page = (await getPage(open, String(location))).body;
    expect(page).toContain('Streak');
    const polled = /data-hx-get="([^"]+)"/.exec(page)?.[1]?.replaceAll('&amp;', '&') ?? '';
    const poll = () => getPage(open, polled, { 'hx-request': 'true' });
    expect((await poll()).statusCode).toBe(204);
    await open.deps.votes.updateOne(
      { serverId: open.serverId },
      { $set: { 'delivery.state': 'delivered', 'delivery.deliveredAt': at(312) } },
    );
    const refreshed = await poll();
    expect(textOf(refreshed.body)).toContain('Arrived in 0.3 s.');
    expect(refreshed.body).not.toContain('Streak');
  });

  it('lists a user’s favourites, those that are due first, and similar servers', async () => {
    const open = await withServer(web());
    const { deps } = open;
    const beta = await withServer(open, 'Beta Craft', 'beta.example.org');
    const gamma = await withServer(open, 'Gamma Craft', 'gamma.example.org');
    const { headers, userId } = await signIn(open, { days: 8 });
    // The newest favourite comes first; it is the one that waits.
    for (const { serverId } of [open, gamma, beta]) await addFavourite(deps, userId, serverId);
    const online = { game: 'minecraft', 'probe.status': 'online' as const, 'probe.checkedAt': clock.now() };
    await deps.servers.updateMany({}, { $set: online });
    await recomputeRanks(deps);
    const vote = (slug: string) => sendForm(open, `/servers/${slug}/vote`, { username: 'Steve' }, headers);
    await vote(beta.slug);
    const { location } = (await vote(open.slug)).headers;
    const page = (await getPage(open, String(location), headers)).body;
    const [, favourites = '', similar = ''] = page.split('class="other-servers"');
    expect(textOf(favourites)).toMatch(/1 of 2 favourites are due.*Gamma Craft.*Vote.*Beta Craft.*in 1 day/);
    expect(favourites).toContain(`href="/servers/${gamma.slug}/vote?username=Steve"`);
    expect(favourites).not.toContain('Alpha Craft');
    expect(textOf(similar)).toMatch(/Similar servers.*Beta Craft.*Gamma Craft/);
    // Where the vote form is off, there is no button.
    await deps.servers.updateOne({ _id: beta.serverId }, { $set: { webVotes: false } });
    const votes = async () => {
      const { body } = await getPage(open, String(location), headers);
      const lists = body.slice(body.indexOf('class="other-servers"'));
      return [...lists.matchAll(/class="button vote" href="\/servers\/([^/]+)\/vote/g)].map(
        ([, slug]) => slug,
      );
    };
    expect(await votes()).toEqual([gamma.slug, gamma.slug]);
    // Nobody else sees the favourites.
    const shared = (await getPage(open, String(location))).body;
    expect(shared).not.toContain('are due');
    expect(shared).toMatch(/data-voted-list hidden/);
  });

  it('says how many votes the next rank is away', async () => {
    const open = await withServer(web());
    const beta = await withServer(open, 'Beta Craft', 'beta.example.org');
    const { location } = (await voteOnPage(open, open.slug, 'Steve')).headers;
    const votes = { rankPosition: 1, ranked: { votesCount: 12, probedUptime: null } };
    await recomputeRanks(open.deps);
    const page = async () => textOf((await getPage(open, String(location))).body);
    const own = await open.deps.servers.findOne({ _id: open.serverId });
    expect(await page()).toMatch(/Alpha Craft has 1 vote in 30 days and rank \d ?\./);
    if (own?.rankPosition !== 2)
      await open.deps.rankedLists.updateOne({ _id: 'f:/0' }, { $set: { ids: new Binary(beta.serverId.id) } });
    await open.deps.servers.updateOne({ _id: beta.serverId }, { $set: votes });
    const ranked = { rankPosition: 2, ranked: { votesCount: 5, probedUptime: null } };
    await open.deps.servers.updateOne({ _id: open.serverId }, { $set: ranked });
    // The votes and the distance are of the same period: the one that ranks.
    expect(await page()).toMatch(
      /Alpha Craft has 1 vote in 30 days and rank 2 ?\. Beta Craft is 7 votes ahead/,
    );
    const weighed = { 'ranked.rankVotes': 0.5 };
    await open.deps.servers.updateOne({ _id: open.serverId }, { $set: weighed });
    expect(await page()).toMatch(
      /has 1 vote in 30 days, which\s+count as 0\.5 for the rank\s*, and rank 2 ?\. Beta Craft is 12 votes ahead/,
    );
  });
});
