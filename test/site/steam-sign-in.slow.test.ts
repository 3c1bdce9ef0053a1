import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { MINUTE } from '../../src/platform/clock.ts';
import { SIGN_IN_MS } from '../../src/votes/identity/steam-sign-in.ts';
import { addOwnedServer } from '../support/owned-server.ts';
import { signIn } from '../support/sign-in.ts';
import { type SteamProvider, startSteamProvider } from '../support/steam-provider.ts';
import { type StoppedClock, stoppedClock } from '../support/stopped-clock.ts';
import { testDeps } from '../support/test-deps.ts';
import { postVoteForm, solve } from '../support/vote-form.ts';
import { getPage, openWebApp, openWebAppOn, sendForm, textOf, type WebApp } from '../support/web-app.ts';

const GABE = '76561197960287930';
const OTHER = '76561197960287931';

let steam: SteamProvider;
let clock: StoppedClock;
let web: WebApp;
let slug: string;
let other: string;

/** Lists a Rust server. Returns its slug. */
async function listed(name: string): Promise<string> {
  const { userId } = await signIn(web);
  const serverId = await addOwnedServer(web.deps, userId, {
    name,
    game: 'rust',
    address: `${name.toLowerCase()}.example.org`,
  });
  return (await web.deps.servers.findOne({ _id: serverId }))?.slug ?? '';
}

beforeAll(async () => {
  steam = await startSteamProvider();
  clock = stoppedClock();
  web = await openWebAppOn({ ...(await testDeps(steam.env)), clock });
  slug = await listed('Rusty');
  other = await listed('Salty');
});

beforeEach(async () => {
  Object.assign(steam, { player: GABE, behaviour: 'answers', checks: 0, now: clock.now });
  await web.deps.votes.deleteMany({});
  await web.deps.rateLimits.deleteMany({});
  await web.deps.servers.updateMany({}, { $unset: { provenIdOnly: '' } });
});

/** A browser: it keeps the cookies that it gets. */
function browser() {
  const cookies = new Map<string, string>();
  const headers = () => ({ cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') });
  const note = <A extends { headers: Record<string, unknown> }>(answer: A): A => {
    for (const line of [answer.headers['set-cookie'] ?? []].flat().map(String)) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (value) cookies.set(name, value);
      else cookies.delete(name);
    }
    return answer;
  };
  const get = async (path: string) => note(await getPage(web, path, headers()));
  /** Goes to Steam and comes back. Returns the address of the return without visiting it. */
  const comeBack = async (at = slug): Promise<URL> => {
    const { headers: left } = await get(`/servers/${at}/vote/steam`);
    const answer = await fetch(String(left.location), { redirect: 'manual' });
    return new URL(answer.headers.get('location') ?? '');
  };
  return {
    get,
    headers,
    post: async (path: string, fields: Record<string, string> = {}) =>
      note(await sendForm(web, path, fields, headers())),
    comeBack,
    /** Signs in through Steam. Returns the path to which the return leads. */
    async signIn(at = slug): Promise<string> {
      const { pathname, search } = await comeBack(at);
      return String((await get(`${pathname}${search}`)).headers.location);
    },
    /** Votes as the script of the form does. */
    async vote(username: string, at = slug) {
      const visitor = { headers: headers() };
      const challenge = await postVoteForm(web, `${at}/vote/challenge`, { username }, visitor);
      if (challenge.statusCode !== 200) return challenge;
      const proof = await solve(challenge.json());
      return postVoteForm(web, `${at}/vote`, { username, proof }, visitor);
    },
  };
}

const votesIn = () => web.deps.votes.find({}, { projection: { username: 1, identity: 1, _id: 0 } }).toArray();

describe('signing in through Steam', () => {
  test('leads back to the vote form, which votes with the proven SteamID until the player drops it', async () => {
    const { get, post, signIn: enter, vote } = browser();
    expect((await get(`/servers/${slug}/vote`)).body).toContain(`href="/servers/${slug}/vote/steam"`);
    expect(await enter()).toBe(`/servers/${slug}/vote`);
    const page = await get(`/servers/${slug}/vote`);
    expect(textOf(page.body)).toContain(`Voting as ${GABE} , confirmed by Steam.`);
    expect(page.body).toContain(`<input type="hidden" name="username" value="${GABE}" />`);
    expect(page.headers['cache-control']).toContain('no-store');

    expect((await vote(GABE)).statusCode).toBe(303);
    expect(await votesIn()).toEqual([{ username: GABE, identity: 'proven' }]);

    expect((await post(`/servers/${slug}/vote/steam/drop`)).headers.location).toBe(`/servers/${slug}/vote`);
    expect(textOf((await get(`/servers/${slug}/vote`)).body)).not.toContain('confirmed by Steam');
  });

  test('counts for every server that asks for a SteamID, and only for that SteamID', async () => {
    const { signIn: enter, vote, get } = browser();
    await enter();
    expect((await vote(GABE, other)).statusCode).toBe(303);
    expect((await vote(OTHER)).statusCode).toBe(303);
    expect(await votesIn()).toEqual([{ username: GABE, identity: 'proven' }, { username: OTHER }]);
    // The link of a cached page leads a proven player to the form.
    expect((await get(`/servers/${slug}/vote/steam`)).headers.location).toBe(`/servers/${slug}/vote`);
  });

  test('shows nothing personal on a page that is the same for everybody', async () => {
    const { signIn: enter, get } = browser();
    await enter();
    const page = await get(`/servers/${slug}`);
    expect(page.body).not.toContain(GABE);
    expect(page.body).toContain(`href="/servers/${slug}/vote/steam"`);
  });

  test('needs the address at Steam to be that of this server, this sign-in and this listing', async () => {
    const { headers } = await browser().get(`/servers/${slug}/vote/steam`);
    const { searchParams } = new URL(String(headers.location));
    expect(Object.fromEntries(searchParams)).toEqual({
      'openid.ns': 'http://specs.openid.net/auth/2.0',
      'openid.mode': 'checkid_setup',
      'openid.claimed_id': 'http://specs.openid.net/auth/2.0/identifier_select',
      'openid.identity': 'http://specs.openid.net/auth/2.0/identifier_select',
      'openid.realm': 'http://localhost:3000/',
      'openid.return_to': expect.stringMatching(
        `^http://localhost:3000/servers/${slug}/vote/steam/return\\?state=[\\w.-]+$`,
      ),
    });
  });
});

/** A return that is refused: what the browser does, and the code in the address of the form. */
type Player = ReturnType<typeof browser>;
const pathOf = ({ pathname, search }: URL) => `${pathname}${search}`;
const REFUSED: [string, string, (player: Player) => Promise<string>, string][] = [
  [
    'cancelled',
    'cancelled',
    async (player) => {
      steam.player = null;
      return pathOf(await player.comeBack());
    },
    'You cancelled the sign-in through Steam.',
  ],
  [
    'forged',
    'forged',
    async (player) => {
      const back = await player.comeBack();
      for (const name of ['openid.claimed_id', 'openid.identity'])
        back.searchParams.set(name, (back.searchParams.get(name) ?? '').replace(GABE, OTHER));
      return pathOf(back);
    },
    'Steam did not confirm this answer.',
  ],
  [
    'of another host',
    'malformed',
    async (player) => {
      const back = await player.comeBack();
      for (const name of ['openid.claimed_id', 'openid.identity'])
        back.searchParams.set(name, `https://example.org/openid/id/${GABE}`);
      return pathOf(back);
    },
    'Steam’s answer cannot be used.',
  ],
  [
    'for another server',
    'another-server',
    async (player) => pathOf(await player.comeBack()).replace(`/${slug}/`, `/${other}/`),
    'is for another server',
  ],
  [
    'of an earlier sign-in',
    'another-address',
    async (player) => {
      const earlier = await player.comeBack();
      const back = await player.comeBack();
      for (const [name, value] of earlier.searchParams)
        if (name.startsWith('openid.')) back.searchParams.set(name, value);
      return pathOf(back);
    },
    'This answer of Steam is for another page.',
  ],
  [
    'begun in another browser',
    'another-browser',
    async () => pathOf(await browser().comeBack()),
    'did not begin in this browser',
  ],
  [
    'begun in another browser, in a browser that began one too',
    'another-browser',
    async (player) => {
      await player.comeBack();
      return pathOf(await browser().comeBack());
    },
    'did not begin in this browser',
  ],
  [
    'with a changed state',
    'another-browser',
    async (player) => pathOf(await player.comeBack()).replace('state=', 'state=z'),
    'did not begin in this browser',
  ],
  [
    'too late',
    'expired',
    async (player) => {
      const back = await player.comeBack();
      clock.move(SIGN_IN_MS);
      return pathOf(back);
    },
    'took too long',
  ],
  [
    'with an old answer',
    'expired',
    async (player) => {
      const back = await player.comeBack();
      clock.move(6 * MINUTE);
      return pathOf(back);
    },
    'took too long',
  ],
  [
    'while Steam fails',
    'unavailable',
    async (player) => {
      steam.behaviour = 'fails';
      return pathOf(await player.comeBack());
    },
    'Steam does not answer at the moment',
  ],
];

describe('a return from Steam is refused and changes nothing', () => {
  test.each(REFUSED)('%s', async (_, code, come, sentence) => {
    const player = browser();
    const path = await come(player);
    const answer = await player.get(path);
    const at = path.startsWith(`/servers/${other}/`) ? other : slug;
    expect([answer.statusCode, answer.headers.location]).toEqual([303, `/servers/${at}/vote?steam=${code}`]);
    expect(answer.headers['set-cookie']).toBeUndefined();
    const page = textOf((await player.get(String(answer.headers.location))).body);
    expect(page).toContain(sentence);
    expect(page).not.toContain('confirmed by Steam');
  });

  test('the second time: Steam is not asked again', async () => {
    const player = browser();
    const path = pathOf(await player.comeBack());
    const form = `/servers/${slug}/vote`;
    expect((await player.get(path)).headers.location).toBe(form);
    // Also in a browser that dropped the SteamID.
    await player.post(`${form}/steam/drop`);
    expect((await player.get(path)).headers.location).toBe(`${form}?steam=used`);
    expect(textOf((await player.get(`${form}?steam=used`)).body)).toContain('This sign-in was used before.');
    expect(steam.checks).toBe(1);
  });

  test('when a network begins or finishes too many', async () => {
    const player = browser();
    for (let n = 0; n < 30; n += 1)
      expect((await player.get(`/servers/${slug}/vote/steam`)).statusCode).toBe(303);
    const refused = await player.get(`/servers/${slug}/vote/steam`);
    expect([refused.statusCode, refused.headers['retry-after']]).toEqual([429, expect.any(String)]);
  });
});

describe('an owner who takes only proven SteamIDs', () => {
  beforeEach(async () => {
    await web.deps.servers.updateOne({ slug }, { $set: { provenIdOnly: true } });
  });

  test('gets no vote of a typed one, whose vote is not used up', async () => {
    const player = browser();
    const page = await player.get(`/servers/${slug}/vote`);
    expect(textOf(page.body)).toContain('takes votes only from players who signed in through Steam');
    expect(page.body).not.toContain('name="username"');
    for (const path of ['vote', 'vote/challenge']) {
      const refused = await postVoteForm(web, `${slug}/${path}`, { username: GABE });
      expect([refused.statusCode, refused.json()]).toMatchObject([403, { code: 'identity-not-proven' }]);
    }
    await player.signIn();
    expect((await player.vote(OTHER)).json()).toMatchObject({ code: 'identity-not-proven' });
    expect((await player.vote(GABE)).statusCode).toBe(303);
    expect(await votesIn()).toEqual([{ username: GABE, identity: 'proven' }]);
  });
});

describe('a typed SteamID', () => {
  test('is one player in every spelling, and any other text is refused before the vote is used up', async () => {
    const { vote } = browser();
    const refused = await vote('RustPlayer Bob');
    expect([refused.statusCode, refused.json()]).toMatchObject([400, { code: 'malformed' }]);
    expect((await vote(`https://steamcommunity.com/profiles/${GABE}/?l=german`)).statusCode).toBe(303);
    for (const spelling of [GABE, 'STEAM_0:0:11101', '[U:1:22202]'])
      expect((await vote(spelling)).json()).toMatchObject({ code: 'cooldown' });
    expect(await votesIn()).toEqual([{ username: GABE }]);
  });

  test('is refused on the form with the reason at the field', async () => {
    const path = `/servers/${slug}/vote`;
    const { body } = await sendForm(web, path, { username: 'https://steamcommunity.com/id/bob' });
    expect(body).toMatch(/<input id="username"[^>]*aria-invalid="true"/);
    expect(textOf(body)).toContain('This address has a name of your choice');
    expect(textOf(body)).toContain('Press “Sign in through Steam” here instead.');
    expect(body).toContain('data-name-kind="steam"');
  });
});

test('a listing without Steam has no sign-in, and takes every SteamID', async () => {
  const bare = await openWebApp();
  const { userId } = await signIn(bare);
  await addOwnedServer(bare.deps, userId, { name: 'Rusty', game: 'rust' });
  await bare.deps.servers.updateOne({ slug: 'rusty' }, { $set: { provenIdOnly: true } });
  const page = await getPage(bare, '/servers/rusty/vote');
  expect(page.body).not.toContain('vote/steam');
  expect(page.body).toContain('name="username"');
  expect((await getPage(bare, '/servers/rusty/vote/steam')).statusCode).toBe(404);
  const { body } = await getPage(bare, '/servers/rusty/vote?username=https://steamcommunity.com/id/bob');
  expect(textOf(body)).toContain('This address has a name of your choice');
  expect(textOf(body)).not.toContain('Sign in through Steam');
});
