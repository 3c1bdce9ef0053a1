import type { Challenge } from 'altcha-lib';
import { Binary, ObjectId, UUID } from 'mongodb';
import { describe, expect, it } from 'vitest';
import type { User } from '../../src/accounts/user.ts';
import { addFavourite } from '../../src/favourites/favourites.ts';
import { after, DAY, HOUR, MINUTE } from '../../src/platform/clock.ts';
import { useAllowance } from '../../src/platform/limits/rate-limit.ts';
import { recomputeRanks } from '../../src/ranking/recompute-ranks.ts';
import { finishExclusion } from '../../src/votes/exclusions/finish-exclusion.ts';
import { requestQuarantineExclusion } from '../../src/votes/exclusions/quarantine.ts';
import { voteFigures } from '../../src/votes/vote-figures.ts';
import { PROOF_ITERATIONS } from '../../src/votes/web/proof-of-work.ts';
import { addOwnedServer } from '../support/owned-server.ts';
import { PASSWORD, signIn } from '../support/sign-in.ts';
import { stoppedClock } from '../support/stopped-clock.ts';
import { testDeps } from '../support/test-deps.ts';
import { postVoteForm, proofOfWorkFor, solve, type Visitor, voteOnPage } from '../support/vote-form.ts';
import { getPage, openWebApp, openWebAppOn, sendForm, textOf, type WebApp } from '../support/web-app.ts';

type Open = WebApp & { serverId: ObjectId; slug: string };

async function withServer(web: WebApp, name = 'Alpha Craft', address = 'play.example.org'): Promise<Open> {
  const owner = await signIn(web);
  const serverId = await addOwnedServer(web.deps, owner.userId, { name, address });
  const server = await web.deps.servers.findOne({ _id: serverId });
  return { ...web, serverId, slug: server?.slug ?? '' };
}

const voteOf = async ({ deps, serverId }: Open, username: string) =>
  deps.votes.findOne({ serverId, username });

describe('the vote form', () => {
  it('counts a vote with a proof of work, and leads to the page of the vote', async () => {
    const open = await withServer(
      await openWebAppOn({ ...(await testDeps()), proofIterations: PROOF_ITERATIONS }),
    );
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
    const open = await withServer(await openWebApp());
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
    const open = await withServer(await openWebApp());
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
    const open = await withServer(await openWebApp());
    const answer = await sendForm(open, `/servers/${open.slug}/vote`, { username: 'Steve', proof: '' });
    expect(answer.statusCode).toBe(400);
    expect(textOf(answer.body)).toContain(
      'A vote without an account needs JavaScript. Allow it for this page, or sign in',
    );
    expect(answer.body).toContain('value="Steve"');
  });

  it('needs no proof from a user with an established account, who counts as one player', async () => {
    const open = await withServer(await openWebApp());
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
    const open = await withServer(await openWebApp());
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
    const open = await withServer(await openWebApp());
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
    const open = await withServer(await openWebApp());
    expect(textOf((await getPage(open, `/servers/${open.slug}/vote`)).body)).toContain(
      'On one day, 4 new players of one network can vote for a server. Over all servers, the votes of 6 count at once;',
    );
  });

  it('is switched off by the owner for a server, and by the operator for all', async () => {
    const open = await withServer(await openWebApp());
    await open.deps.servers.updateOne({ _id: open.serverId }, { $set: { webVotes: false } });
    for (const path of ['vote', 'vote/challenge']) {
      const refused = await postVoteForm(open, `${open.slug}/${path}`, { username: 'Steve' });
      expect([refused.statusCode, refused.json()]).toMatchObject([403, { code: 'web-votes-off' }]);
    }
    expect(textOf((await getPage(open, `/servers/${open.slug}/vote`)).body)).toContain(
      'The owner has switched off votes on this page.',
    );

    const off = await withServer(await openWebApp({ WEB_VOTES: 'off' }));
    expect((await postVoteForm(off, `${off.slug}/vote`, { username: 'Steve' })).statusCode).toBe(403);
    expect((await getPage(off, `/servers/${off.slug}`)).body).not.toContain('name="username" type="text"');
  });
});

it('casts nothing while the clock is wrong, or while a unique index is missing', async () => {
  const deps = await testDeps();
  const open = await withServer(await openWebAppOn({ ...deps, clockSkew: () => 5_000 }));
  const off = await voteOnPage(open, open.slug, 'Steve');
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

describe('the proof of work', () => {
  it('is refused with its reason when it is missing, unreadable, forged or wrong', async () => {
    const open = await withServer(await openWebApp());
    const vote = async (proof: string) => {
      const answer = await postVoteForm(open, `${open.slug}/vote`, { username: 'Steve', proof });
      return [answer.statusCode, answer.json<{ code: string }>().code];
    };
    const good = await proofOfWorkFor(open, open.slug, 'Steve');
    const changed = (
      change: (proof: { challenge: { parameters: { cost: number } }; solution: object }) => void,
    ) => {
      const proof = JSON.parse(Buffer.from(good, 'base64').toString());
      change(proof);
      return Buffer.from(JSON.stringify(proof)).toString('base64');
    };

    expect(await vote('')).toEqual([400, 'proof-missing']);
    expect(await vote('no proof')).toEqual([400, 'proof-malformed']);
    expect(await vote('A'.repeat(30_000))).toEqual([400, 'proof-malformed']);
    expect(
      await vote(
        changed(({ challenge }) => {
          challenge.parameters.cost = 1;
        }),
      ),
    ).toEqual([400, 'proof-forged']);
    expect(
      await vote(
        changed((proof) => {
          proof.solution = { counter: 0, derivedKey: '00'.repeat(32) };
        }),
      ),
    ).toEqual([400, 'proof-wrong']);
    expect(await open.deps.votes.countDocuments()).toBe(0);
  });

  it('is for one server, one player and one network', async () => {
    const open = await withServer(await openWebApp());
    const other = await withServer(open, 'Beta Craft', 'beta.example.org');
    const proof = await proofOfWorkFor(open, open.slug, 'Steve', { address: '203.0.113.7' });
    const vote = async (slug: string, username: string, visitor: Visitor) => {
      const answer = await postVoteForm(open, `${slug}/vote`, { username, proof }, visitor);
      return answer.statusCode === 303 ? 'accepted' : answer.json<{ code: string }>().code;
    };
    expect(await vote(other.slug, 'Steve', {})).toBe('proof-for-another-server');
    expect(await vote(open.slug, 'Alex', {})).toBe('proof-for-another-player');
    expect(await vote(open.slug, 'Steve', { address: '198.51.100.1' })).toBe('proof-for-another-network');
    // Another spelling is the same player, and another address of the same /24 is the same network.
    expect(await vote(open.slug, 'steve', { address: '203.0.113.99' })).toBe('accepted');
  });

  describe('that was made on another network', () => {
    const IPV6 = '2001:db8:1:1::7';
    const IPV4 = '203.0.113.7';
    const SESSION = 'b7e3a1a2-1111-4222-8333-444455556666';

    /** Gets a challenge on one network and sends the form on another, as a browser with IPv4 and IPv6 does. */
    async function voteAcross(
      open: Open,
      username: string,
      session: Partial<Record<'made' | 'sent', string>>,
    ) {
      const asked = { username, session: session.made ?? '' };
      const made = await postVoteForm(open, `${open.slug}/vote/challenge`, asked, { address: IPV6 });
      if (made.statusCode !== 200) return made;
      const proof = await solve(made.json<Challenge>());
      const form = { username, proof, session: session.sent ?? '' };
      return postVoteForm(open, `${open.slug}/vote`, form, { address: IPV4 });
    }
    const codeOf = ({ statusCode, body }: { statusCode: number; body: string }) =>
      statusCode === 303 ? 'accepted' : JSON.parse(body).code;
    const newPlayersOf = async ({ deps, serverId }: Open) =>
      (await deps.voteOrigins.find({ kind: { $ne: 'user' } }).toArray())
        .map(({ players }) => players.filter((one) => serverId.equals(one.serverId)).length)
        .toSorted();

    it('is accepted in the session of its page only', async () => {
      const open = await withServer(await openWebApp());
      expect(codeOf(await voteAcross(open, 'Steve', { made: SESSION, sent: SESSION }))).toBe('accepted');
      for (const session of [
        {},
        { made: SESSION },
        { sent: SESSION },
        { made: SESSION, sent: 'x'.repeat(36) },
      ])
        expect(codeOf(await voteAcross(open, 'Alex', session))).toBe('proof-for-another-network');
      // An invalid session value is ignored.
      expect(codeOf(await voteAcross(open, 'Alex', { made: 'x', sent: 'x' }))).toBe(
        'proof-for-another-network',
      );
    });

    it('counts against the limits of both networks, so that sharing proofs gains no vote', async () => {
      const open = await withServer(await openWebApp({ WEB_VOTE_PLAYERS: '2' }));
      const session = { made: SESSION, sent: SESSION };
      expect(codeOf(await voteAcross(open, 'Steve', session))).toBe('accepted');
      expect(codeOf(await voteAcross(open, 'Alex', session))).toBe('accepted');
      // Three counters have two new players: the network of the votes, the network of the challenges, and the /48
      // around it.
      expect(await newPlayersOf(open)).toEqual([2, 2, 2]);
      expect(codeOf(await voteAcross(open, 'Third', session))).toBe('too-many-players');
      for (const address of [IPV4, IPV6]) {
        const challenge = await postVoteForm(
          open,
          `${open.slug}/vote/challenge`,
          { username: 'Third' },
          { address },
        );
        expect(codeOf(challenge)).toBe('too-many-players');
      }
    });

    it('is refused if the network of the challenge was used up meanwhile', async () => {
      const open = await withServer(await openWebApp({ WEB_VOTE_PLAYERS: '1' }));
      const asked = { username: 'Steve', session: SESSION };
      const made = await postVoteForm(open, `${open.slug}/vote/challenge`, asked, { address: IPV6 });
      expect((await voteOnPage(open, open.slug, 'Alex', { address: IPV6 })).statusCode).toBe(303);
      const form = { ...asked, proof: await solve(made.json<Challenge>()) };
      const answer = await postVoteForm(open, `${open.slug}/vote`, form, { address: IPV4 });
      expect(codeOf(answer)).toBe('too-many-players');
      // A refused vote does not count in the other network.
      expect((await voteOnPage(open, open.slug, 'Steve', { address: IPV4 })).statusCode).toBe(303);
    });

    it('counts once', async () => {
      const open = await withServer(await openWebApp());
      const asked = { username: 'Steve', session: SESSION };
      const made = await postVoteForm(open, `${open.slug}/vote/challenge`, asked, { address: IPV6 });
      const form = { ...asked, proof: await solve(made.json<Challenge>()) };
      const addresses = [IPV4, IPV6, '198.51.100.1', IPV4, IPV6, '192.0.2.1'];
      const answers = await Promise.all(
        addresses.map((address) => postVoteForm(open, `${open.slug}/vote`, form, { address })),
      );
      const codes = answers.map(codeOf);
      expect(codes.filter((code) => code === 'accepted')).toHaveLength(1);
      expect(codes.filter((code) => code === 'proof-used')).toHaveLength(5);
    });

    it('is made again by the page once, without asking the player', async () => {
      const open = await withServer(await openWebApp());
      const proof = await proofOfWorkFor(open, open.slug, 'Steve', { address: IPV6 });
      const send = (again: string) =>
        postVoteForm(
          open,
          `${open.slug}/vote`,
          { username: 'Steve', proof, again },
          { address: IPV4, headers: { accept: 'text/html' } },
        );
      const first = await send('');
      expect(first.body).toMatch(/<form[^>]* data-again/);
      expect(first.body).toContain('value="Steve"');
      expect(textOf(first.body)).not.toContain('another network');
      const second = await send('1');
      expect(second.body).not.toContain('data-again');
      expect(textOf(second.body)).toContain('The proof of work was made on another network. Vote again.');
    });
  });

  it('expires after 10 minutes', async () => {
    const clock = stoppedClock();
    const open = await withServer(await openWebAppOn({ ...(await testDeps()), clock }));
    const proof = await proofOfWorkFor(open, open.slug, 'Steve');
    clock.move(10 * MINUTE);
    const answer = await postVoteForm(open, `${open.slug}/vote`, { username: 'Steve', proof });
    expect(answer.json()).toMatchObject({ code: 'proof-expired' });
  });

  it('counts once, however many requests with it come at once', async () => {
    const open = await withServer(await openWebApp());
    const proof = await proofOfWorkFor(open, open.slug, 'Steve');
    const send = () => postVoteForm(open, `${open.slug}/vote`, { username: 'Steve', proof });
    const codes: string[] = [];
    // A request may wait for the database for 5 s in all. On a busy machine, a hundred at once need longer than that and
    // get 503, so they come in rounds. The requests of the first round race for the vote.
    for (let round = 0; round < 4; round += 1)
      for (const { statusCode, body } of await Promise.all(Array.from({ length: 25 }, send)))
        codes.push(statusCode === 303 ? 'accepted' : JSON.parse(body).code);
    expect(codes.filter((code) => code === 'accepted')).toHaveLength(1);
    expect(codes.filter((code) => code === 'proof-used')).toHaveLength(99);
    expect(await open.deps.votes.countDocuments()).toBe(1);
  });

  it('is harder for a network that votes a lot', async () => {
    const open = await withServer(await openWebApp());
    const counterOf = async (address: string) => {
      const answer = await postVoteForm(
        open,
        `${open.slug}/vote/challenge`,
        { username: 'Steve' },
        { address },
      );
      const proof = await solve(answer.json());
      return JSON.parse(Buffer.from(proof, 'base64').toString()).solution.counter;
    };
    expect(await counterOf('203.0.113.7')).toBeLessThanOrEqual(200);
    const { voteOrigins } = open.deps;
    const [origin] = await voteOrigins.find().toArray();
    expect(origin).toBeUndefined();
    await voteOnPage(open, open.slug, 'Steve', { address: '203.0.113.7' });
    const players = Array.from({ length: 20 }, (_, i) => ({ serverId: new ObjectId(), player: `p${i}` }));
    await voteOrigins.updateOne({}, { $set: { players } });
    // The secret number is now at most 800: for three of four challenges it is above 200.
    let counter = 0;
    for (let tries = 0; tries < 20 && counter <= 200; tries += 1) counter = await counterOf('203.0.113.7');
    expect(counter).toBeGreaterThan(200);
  });

  it('has a limit on how many challenges a network gets', async () => {
    const open = await withServer(await openWebApp());
    const challenge = () => postVoteForm(open, `${open.slug}/vote/challenge`, { username: 'Steve' });
    const answers = await Promise.all(Array.from({ length: 61 }, challenge));
    expect(answers.filter(({ statusCode }) => statusCode === 200)).toHaveLength(60);
    const refused = answers.find(({ statusCode }) => statusCode === 429);
    expect(Number(refused?.headers['retry-after'])).toBeGreaterThan(0);
  });
});

describe('the limit of a network', () => {
  it('is four new players for a server and a day; a fifth may sign in with an established account', async () => {
    const clock = stoppedClock(new Date('2026-11-21T10:00:00Z'));
    const open = await withServer(await openWebAppOn({ ...(await testDeps()), clock }));
    const home = (last: number) => ({ address: `203.0.113.${last}` });
    const early = await proofOfWorkFor(open, open.slug, 'Dan', home(3));
    for (const [i, name] of ['Ann', 'Ben', 'Cleo', 'Gus'].entries())
      expect((await voteOnPage(open, open.slug, name, home(i))).statusCode).toBe(303);
    // The challenge is refused already, before the browser does any work.
    const challenge = await postVoteForm(open, `${open.slug}/vote/challenge`, { username: 'Dan' }, home(3));
    expect([challenge.statusCode, challenge.json().code]).toEqual([429, 'too-many-players']);
    const fourth = await postVoteForm(open, `${open.slug}/vote`, { username: 'Dan', proof: early }, home(3));
    expect([fourth.statusCode, fourth.json()]).toMatchObject([429, { code: 'too-many-players' }]);
    expect(fourth.json<{ error: string }>().error).toBe(
      'Your network has voted for this server as 4 new players today. Sign in with an account that is older than 7 days to vote as one more, or vote tomorrow: the day ends at midnight UTC.',
    );
    expect(fourth.headers['retry-after']).toBe(String(14 * 3_600));

    const young = await signIn(open, { days: 6 });
    const asYoung = await postVoteForm(
      open,
      `${open.slug}/vote/challenge`,
      { username: 'Dan' },
      { ...home(3), headers: young.headers },
    );
    expect(asYoung.json().code).toBe('too-many-players');
    const { headers } = await signIn(open, { days: 7 });
    expect(
      (await sendForm(open, `/servers/${open.slug}/vote`, { username: 'Dan' }, headers)).statusCode,
    ).toBe(303);
    // A vote from another network, and a vote on the next day, are accepted.
    expect((await voteOnPage(open, open.slug, 'Eve', { address: '198.51.100.1' })).statusCode).toBe(303);
    clock.move(DAY);
    expect((await voteOnPage(open, open.slug, 'Finn', home(3))).statusCode).toBe(303);
  });

  it('is four times as many for an IPv6 /48, whatever its /64 networks are', async () => {
    const open = await withServer(await openWebApp());
    for (let i = 0; i < 16; i += 1)
      expect((await voteOnPage(open, open.slug, `P${i}`, { address: `2001:db8:7:${i}::1` })).statusCode).toBe(
        303,
      );
    const other = { username: 'P16' };
    const challenge = (address: string) =>
      postVoteForm(open, `${open.slug}/vote/challenge`, other, { address });
    expect((await challenge('2001:db8:7:99::1')).json()).toMatchObject({ code: 'too-many-players' });
    expect((await challenge('2001:db8:8::1')).statusCode).toBe(200);
  });

  it('stores networks as keyed hashes for 30 days', async () => {
    const open = await withServer(await openWebApp());
    await voteOnPage(open, open.slug, 'Steve', { address: '203.0.113.7' });
    const [origin] = await open.deps.voteOrigins.find().toArray();
    expect(origin?._id).toMatch(/^[\w-]{22}:\d{4}-\d{2}-\d{2}$/);
    expect(JSON.stringify(origin)).not.toMatch(/203\.0|steve/i);
    const days = ((origin?.expiresAt.getTime() ?? 0) - Date.now()) / DAY;
    expect(Math.round(days)).toBe(30);
    const vote = await voteOf(open, 'Steve');
    expect(JSON.stringify(vote)).not.toContain('203.0');
  });
});

it('quarantines a bot again the day after its vote was excluded', async () => {
  const clock = stoppedClock(new Date('2026-11-21T10:00:00Z'));
  const open = await withServer(await openWebAppOn({ ...(await testDeps()), clock }));
  const { deps, serverId } = open;
  // Casts more votes of new players than are usual for the server.
  const fill = async () => {
    await deps.rateLimits.deleteMany({});
    const limit = { times: 20, windowMs: HOUR };
    for (let n = 0; n < 20; n += 1)
      await useAllowance(deps, `new-web-voters:${serverId.toHexString()}:firsts`, limit);
  };
  await fill();
  expect((await voteOnPage(open, open.slug, 'Bot')).statusCode).toBe(303);
  const [exclusion] = await deps.voteExclusions.find().toArray();
  await requestQuarantineExclusion(deps, exclusion?._id as ObjectId, 'Bots', 'operator');
  await finishExclusion(deps, exclusion?._id as ObjectId, { settledMs: -HOUR });
  const page = (await getPage(open, `/servers/${open.slug}/vote/${(await voteOf(open, 'Bot'))?._id}`)).body;
  expect(page).toContain('An operator of this listing has excluded it.');
  expect(page).not.toContain('every 3s');
  clock.move(DAY + MINUTE);
  await fill();
  expect((await voteOnPage(open, open.slug, 'Bot')).statusCode).toBe(303);
  expect(await deps.voteExclusions.countDocuments({ serverId, state: 'quarantined' })).toBe(1);
});

describe('the page of a vote', () => {
  it('names the network as the reason if it is the reason, and says what helps', async () => {
    const open = await withServer(await openWebApp());
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
    const open = await withServer(await openWebApp());
    const limit = { times: 20, windowMs: HOUR };
    for (let n = 0; n < 20; n += 1)
      await useAllowance(open.deps, `new-web-voters:${open.serverId.toHexString()}:firsts`, limit);
    const { location } = (await voteOnPage(open, open.slug, 'Steve')).headers;
    const page = textOf((await getPage(open, String(location))).body);
    expect(page).toContain('This is not because of you: many new players are voting for Alpha Craft now.');
  });

  it('is no page for another server, an unknown vote or an id that is none', async () => {
    const open = await withServer(await openWebApp());
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
    const clock = stoppedClock(new Date('2026-11-21T10:00:00Z'));
    const open = await withServer(await openWebAppOn({ ...(await testDeps()), clock }));
    await voteOnPage(open, open.slug, 'Steve');
    clock.move(HOUR);
    const page = async (query = '') => (await getPage(open, `/servers/${open.slug}/vote${query}`)).body;
    const waiting = await page('?username=STEVE');
    expect(textOf(waiting)).toMatch(/STEVE has voted for Alpha Craft ?\./);
    expect(waiting).toContain('data-next-vote="2026-11-22T10:00:00.000Z"');
    expect(textOf(waiting)).toContain('23:00:00 left');
    expect(waiting).toContain('/vote/reminder.ics?at=2026-11-22T10%3A00%3A00.000Z');
    expect(waiting).not.toContain('<form method="post" action="/servers/alpha-craft/vote"');

    // Another player, and nobody: the form.
    for (const query of ['?username=Alex', '?username=', ''])
      expect(await page(query)).toContain('<form method="post" action="/servers/alpha-craft/vote"');
    clock.move(23 * HOUR);
    expect(await page('?username=Steve')).toContain('<form method="post" action="/servers/alpha-craft/vote"');
  });

  it('is what a browser gets for a second vote, and other refusals stay clear', async () => {
    const open = await withServer(await openWebApp());
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
    const open = await withServer(await openWebApp());
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
    const clock = stoppedClock(new Date('2026-11-21T10:00:00Z'));
    const open = await withServer(await openWebAppOn({ ...(await testDeps()), clock }));
    const { location } = (await voteOnPage(open, open.slug, 'Steve')).headers;
    await open.deps.votes.updateOne({ serverId: open.serverId }, { $set: change });
    return textOf((await getPage(open, String(location))).body);
  }
  const at = (ms: number) => after(new Date('2026-11-21T10:00:00Z'), ms);
  const attempt = (fields: Record<string, unknown>) => ({
    id: new UUID(),
    at: at(100),
    worker: 'w',
    protocol: 'votifier-v2',
    revision: 1,
    test: false,
    ...fields,
  });

  it.each<[string, Record<string, unknown>, string]>([
    ['arrived', { 'delivery.state': 'delivered', 'delivery.deliveredAt': at(312) }, 'Arrived in 0.3 s.'],
    [
      'arrived much later',
      { 'delivery.state': 'delivered', 'delivery.deliveredAt': at(3 * MINUTE) },
      'Arrived in 3 minutes.',
    ],
    [
      'was fetched and arrived',
      {
        'delivery.state': 'delivered',
        'delivery.deliveredAt': at(2_100),
        'delivery.attempts': [attempt({ protocol: 'fetch', code: 'acknowledged', class: 'delivered' })],
      },
      'was fetched by the game server and arrived in 2.1 s.',
    ],
    [
      'is being fetched',
      { 'delivery.state': 'sending', 'delivery.attempts': [attempt({ protocol: 'fetch' })] },
      'The game server has fetched your vote.',
    ],
    ['waits', { 'delivery.state': 'waiting' }, 'Your vote is on its way to the game server.'],
    ['is not sent', {}, 'This listing sends no votes to this server.'],
    [
      'was claimed',
      { claim: { at: at(5_000), tokenId: new ObjectId() } },
      'A plugin of the server has claimed your vote for the reward.',
    ],
    ['failed', { 'delivery.state': 'failed' }, 'the game server did not take it'],
    ['was not answered', { 'delivery.state': 'unconfirmed' }, 'the game server did not answer'],
  ])('says that the vote %s', async (_how, change, text) => {
    const page = await pageWith(change);
    expect(page).toMatch(/Your vote counts, Steve ?\./);
    expect(page).toContain(text);
  });

  it('refreshes only the part about the vote, and not while nothing has changed', async () => {
    const clock = stoppedClock(new Date('2026-11-21T10:00:00Z'));
    const open = await withServer(await openWebAppOn({ ...(await testDeps()), clock }));
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
    const open = await withServer(await openWebApp());
    const { deps } = open;
    const beta = await withServer(open, 'Beta Craft', 'beta.example.org');
    const gamma = await withServer(open, 'Gamma Craft', 'gamma.example.org');
    const { headers, userId } = await signIn(open, { days: 8 });
    // The newest favourite comes first; it is the one that waits.
    for (const { serverId } of [open, gamma, beta]) await addFavourite(deps, userId, serverId);
    const online = { game: 'minecraft', 'probe.status': 'online' as const, 'probe.checkedAt': new Date() };
    await deps.servers.updateMany({}, { $set: online });
    await recomputeRanks(deps);
    const vote = (slug: string) => sendForm(open, `/servers/${slug}/vote`, { username: 'Steve' }, headers);
    await vote(beta.slug);
    const { location } = (await vote(open.slug)).headers;
    const page = (await getPage(open, String(location), headers)).body;
    const [, favourites = '', similar = ''] = page.split('class="other-servers"');
    expect(textOf(favourites)).toMatch(
      /1 of 2 favourites are due.*Gamma Craft.*Vote.*Beta Craft.*in 24 hours/,
    );
    expect(favourites).toContain(`href="/servers/${gamma.slug}/vote?username=Steve"`);
    expect(favourites).not.toContain('Alpha Craft');
    expect(textOf(similar)).toMatch(/Similar servers.*Beta Craft.*Gamma Craft/);
    // Nobody else sees the favourites.
    const shared = (await getPage(open, String(location))).body;
    expect(shared).not.toContain('are due');
    expect(shared).toMatch(/data-voted-list hidden/);
  });

  it('says how many votes the next rank is away', async () => {
    const open = await withServer(await openWebApp());
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
      /has 1 vote in 30 days, which count as 0\.5 for the rank, and rank 2 ?\. Beta Craft is 12 votes ahead/,
    );
  });
});

it('no page that visitors share has a player’s name in its form: the browser fills it in', async () => {
  const open = await withServer(await openWebApp());
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
