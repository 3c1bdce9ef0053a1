import type { Challenge } from 'altcha-lib';
import { ObjectId } from 'mongodb';
import { beforeEach, describe, expect, it } from 'vitest';
import { DAY, HOUR, MINUTE } from '../../src/platform/clock.ts';
import { finishExclusion } from '../../src/votes/exclusions/finish-exclusion.ts';
import { requestQuarantineExclusion } from '../../src/votes/exclusions/quarantine.ts';
import { setUses } from '../support/limits.ts';
import { signIn } from '../support/sign-in.ts';
import { stoppedClock } from '../support/stopped-clock.ts';
import { postVoteForm, proofOfWorkFor, solve, voteOnPage } from '../support/vote-form.ts';
import { getPage, sendForm, textOf, webAppOfFile } from '../support/web-app.ts';
import { nextMorning, type VoteServer, voteOf, withServer } from './vote-server.ts';

const clock = stoppedClock();
const web = webAppOfFile({}, { clock });

beforeEach(() => clock.set(nextMorning(clock)));

/** The code of a refusal, or `accepted`. */
const codeOf = ({ statusCode, body }: { statusCode: number; body: string }) =>
  statusCode === 303 ? 'accepted' : JSON.parse(body).code;

describe('the proof of work', () => {
  it('is refused with its reason', async () => {
    const open = await withServer(web());
    const vote = (username: string, proof: string) =>
      postVoteForm(open, `${open.slug}/vote`, { username, proof });
    const forged = await vote('Steve', 'no proof');
    expect([forged.statusCode, forged.json()]).toMatchObject([
      400,
      { code: 'proof-malformed', error: 'The proof of work cannot be read. Vote again.' },
    ]);
    const proof = await proofOfWorkFor(open, open.slug, 'Steve');
    expect(codeOf(await vote('Alex', proof))).toBe('proof-for-another-player');
    // Another spelling is the same player.
    expect(codeOf(await vote('steve', proof))).toBe('accepted');
    const again = await vote('Steve', proof);
    expect([again.statusCode, codeOf(again)]).toEqual([409, 'proof-used']);
    expect(await open.deps.votes.countDocuments()).toBe(1);
  });

  describe('that was made on another network', () => {
    const IPV6 = '2001:db8:1:1::7';
    const IPV4 = '203.0.113.7';
    const SESSION = 'b7e3a1a2-1111-4222-8333-444455556666';

    /** Gets a challenge on one network and sends the form on another, as a browser with IPv4 and IPv6 does. */
    async function voteAcross(
      open: VoteServer,
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
    const newPlayersOf = async ({ deps, serverId }: VoteServer) =>
      (await deps.voteOrigins.find({ kind: { $ne: 'user' } }).toArray())
        .map(({ players }) => players.filter((one) => serverId.equals(one.serverId)).length)
        .toSorted();

    it('is accepted in the session of its page only, and counts against the limits of both networks', async () => {
      const open = await withServer(web());
      const session = { made: SESSION, sent: SESSION };
      // An invalid session value is ignored.
      for (const other of [
        { made: SESSION, sent: 'x'.repeat(36) },
        { made: 'x', sent: 'x' },
      ])
        expect(codeOf(await voteAcross(open, 'Alex', other))).toBe('proof-for-another-network');
      expect(codeOf(await voteAcross(open, 'Steve', session))).toBe('accepted');
      for (const name of ['Ann', 'Ben', 'Cleo'])
        expect(codeOf(await voteAcross(open, name, session))).toBe('accepted');
      // Three counters have four new players: the network of the votes, the network of the challenges, and the /48
      // around it.
      expect(await newPlayersOf(open)).toEqual([4, 4, 4]);
      for (const address of [IPV4, IPV6]) {
        const asked = { username: 'Fifth' };
        const challenge = await postVoteForm(open, `${open.slug}/vote/challenge`, asked, { address });
        expect(codeOf(challenge)).toBe('too-many-players');
      }
    });

    it('is refused if the network of the challenge was used up meanwhile', async () => {
      const open = await withServer(web());
      const asked = { username: 'Steve', session: SESSION };
      const made = await postVoteForm(open, `${open.slug}/vote/challenge`, asked, { address: IPV6 });
      for (const name of ['Ann', 'Ben', 'Cleo', 'Dan'])
        expect((await voteOnPage(open, open.slug, name, { address: IPV6 })).statusCode).toBe(303);
      const form = { ...asked, proof: await solve(made.json<Challenge>()) };
      const answer = await postVoteForm(open, `${open.slug}/vote`, form, { address: IPV4 });
      expect(codeOf(answer)).toBe('too-many-players');
      // A refused vote does not count in the other network.
      expect(await newPlayersOf(open)).toEqual([4, 4]);
    });

    it('is made again by the page once, without asking the player', async () => {
      const open = await withServer(web());
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

  it('counts once, however many requests with it come at once', async () => {
    const open = await withServer(web());
    const proof = await proofOfWorkFor(open, open.slug, 'Steve');
    const send = () => postVoteForm(open, `${open.slug}/vote`, { username: 'Steve', proof });
    const codes = (await Promise.all(Array.from({ length: 20 }, send))).map(codeOf);
    expect(codes.filter((code) => code === 'accepted')).toHaveLength(1);
    expect(codes.filter((code) => code === 'proof-used')).toHaveLength(19);
    expect(await open.deps.votes.countDocuments()).toBe(1);
  });

  it('is harder for a network that votes a lot', async () => {
    const open = await withServer(web());
    await voteOnPage(open, open.slug, 'Steve');
    const players = Array.from({ length: 40 }, (_, i) => ({ serverId: new ObjectId(), player: `p${i}` }));
    await open.deps.voteOrigins.updateOne({}, { $set: { players } });
    // The secret number is now at most 3,200: for fifteen of sixteen challenges it is above the usual 200.
    let counter = 0;
    for (let tries = 0; tries < 20 && counter <= 200; tries += 1) {
      const proof = await proofOfWorkFor(open, open.slug, 'Alex');
      counter = JSON.parse(Buffer.from(proof, 'base64').toString()).solution.counter;
    }
    expect(counter).toBeGreaterThan(200);
  });

  it('has a limit on how many challenges a network gets: sixty a minute', async () => {
    // The time of \`Retry-After\` is that of the machine.
    clock.set(new Date());
    const open = await withServer(web());
    const challenge = () => postVoteForm(open, `${open.slug}/vote/challenge`, { username: 'Steve' });
    expect((await challenge()).statusCode).toBe(200);
    await open.deps.rateLimits.updateMany({ _id: /^vote-challenge:/ }, { $set: { count: 59 } });
    expect((await challenge()).statusCode).toBe(200);
    const refused = await challenge();
    expect(refused.statusCode).toBe(429);
    expect(refused.headers['retry-after']).toMatch(/^(5\d|60)$/);
  });
});

describe('the limit of a network', () => {
  it('is four new players for a server and a day; a fifth may sign in with an established account', async () => {
    const open = await withServer(web());
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

  it('stores networks as keyed hashes for 30 days', async () => {
    const open = await withServer(web());
    await voteOnPage(open, open.slug, 'Steve', { address: '203.0.113.7' });
    const [origin] = await open.deps.voteOrigins.find().toArray();
    expect(origin?._id).toMatch(/^[\w-]{22}:\d{4}-\d{2}-\d{2}$/);
    expect(JSON.stringify(origin)).not.toMatch(/203\.0|steve/i);
    const days = ((origin?.expiresAt.getTime() ?? 0) - clock.now().getTime()) / DAY;
    expect(Math.round(days)).toBe(30);
    const vote = await voteOf(open, 'Steve');
    expect(JSON.stringify(vote)).not.toContain('203.0');
  });
});

it('quarantines a bot again the day after its vote was excluded', async () => {
  const open = await withServer(web());
  const { deps, serverId } = open;
  // Casts more votes of new players than are usual for the server.
  const fill = async () => {
    await deps.rateLimits.deleteMany({});
    await setUses(deps, 'new-web-voters', `${serverId}:firsts`, 20);
  };
  await fill();
  expect((await voteOnPage(open, open.slug, 'Bot')).statusCode).toBe(303);
  const [exclusion] = await deps.voteExclusions.find().toArray();
  await requestQuarantineExclusion(deps, exclusion?._id as ObjectId, { reason: 'Bots' }, 'operator');
  await finishExclusion(deps, exclusion?._id as ObjectId, { settledMs: -HOUR });
  const page = (await getPage(open, `/servers/${open.slug}/vote/${(await voteOf(open, 'Bot'))?._id}`)).body;
  expect(page).toContain('An operator of this listing has excluded it.');
  expect(page).not.toContain('every 3s');
  clock.move(DAY + MINUTE);
  await fill();
  expect((await voteOnPage(open, open.slug, 'Bot')).statusCode).toBe(303);
  expect(await deps.voteExclusions.countDocuments({ serverId, state: 'quarantined' })).toBe(1);
});
