/**
 * Casts votes with the vote form as bots do: many networks, a new name and another address for each vote. Beside them a
 * household of four regular players votes from one network: three without an account, the fourth signed in. Prints what
 * was counted, quarantined and refused. Every vote solves its challenge, which takes most of the time.
 *
 *   node bench/votes/bots.ts [votes] [networks] [servers]
 *
 *   node bench/votes/bots.ts 10000 50 5
 */
import type { Challenge } from 'altcha-lib';
import type { ObjectId } from 'mongodb';
import { after, DAY } from '../../src/platform/clock.ts';
import { addOwnedServer } from '../../test/support/owned-server.ts';
import { signIn } from '../../test/support/sign-in.ts';
import { solve } from '../../test/support/vote-form.ts';
import { storedVote } from '../../test/support/votes.ts';
import { openEnvironment } from '../delivery/environment.ts';

const [votes = 10_000, networks = 50, count = 5] = process.argv.slice(2).map(Number);
const AT_ONCE = 8;
const HOUSEHOLD = ['Ann', 'Ben', 'Cleo', 'Dan'];

console.log(`node bench/votes/bots.ts ${process.argv.slice(2).join(' ')}`);
const environment = await openEnvironment({ TRUST_PROXY: '1' });
const { deps } = environment;
const web = await environment.web({ TRUST_PROXY: '1' });
const owner = await signIn({ deps });
const servers: { serverId: ObjectId; slug: string }[] = [];
for (let i = 0; i < count; i += 1) {
  const settings = { name: `Server ${i}`, address: `s${i}.example.org` };
  const serverId = await addOwnedServer(deps, owner.userId, settings);
  servers.push({ serverId, slug: (await deps.servers.findOne({ _id: serverId }))?.slug ?? '' });
  const earlier = HOUSEHOLD.map((name) => {
    const regular = { username: name, usernameKey: name.toLowerCase() };
    return storedVote(serverId, name, after(new Date(), -2 * DAY), regular);
  });
  await deps.votes.insertMany(earlier);
}

type Visitor = { address: string; cookie?: string };

async function post(path: string, fields: Record<string, string>, { address, cookie }: Visitor) {
  const { origin } = new URL(web.url);
  return fetch(`${web.url}${path}`, {
    method: 'POST',
    redirect: 'manual',
    headers: {
      accept: 'application/json',
      origin,
      'sec-fetch-site': 'same-origin',
      'x-forwarded-for': address,
      ...(cookie ? { cookie } : {}),
    },
    body: new URLSearchParams(fields),
  });
}

/** The result of one vote: `accepted`, or the code of the refusal. */
async function vote(slug: string, username: string, visitor: Visitor): Promise<string> {
  const path = `/servers/${slug}/vote`;
  let proof = '';
  if (!visitor.cookie) {
    const answer = await post(`${path}/challenge`, { username }, visitor);
    if (answer.status !== 200) return ((await answer.json()) as { code: string }).code;
    proof = await solve((await answer.json()) as Challenge);
  }
  const answer = await post(path, { username, proof }, visitor);
  return answer.status === 303 ? 'accepted' : ((await answer.json()) as { code: string }).code;
}

const results = new Map<string, number>();
const household: string[] = [];
let sent = 0;

async function household4(): Promise<void> {
  const user = await signIn({ deps }, { days: 8 });
  for (const { slug } of servers) {
    for (const [i, name] of HOUSEHOLD.entries()) {
      const visitor = { address: `198.51.100.${i + 1}`, ...(i === 3 ? user.headers : {}) };
      household.push(await vote(slug, name, visitor));
    }
  }
}

async function bots(): Promise<void> {
  while (sent < votes) {
    const n = sent;
    sent += 1;
    const address = `20.1.${n % networks}.${Math.floor(n / networks) % 250}`;
    const { slug } = servers[Math.floor(n / networks) % count] as { slug: string };
    const result = await vote(slug, `bot${n.toString(36)}`, { address });
    results.set(result, (results.get(result) ?? 0) + 1);
    if (n % 1_000 === 999) console.log(`${n + 1} votes`);
  }
}

const began = performance.now();
await Promise.all([...Array.from({ length: AT_ONCE }, bots), household4()]);
const seconds = (performance.now() - began) / 1_000;
const bot = { username: /^bot/ };
const [counted, quarantined] = await Promise.all([
  deps.votes.countDocuments({ ...bot, quarantinedAt: { $exists: false } }),
  deps.votes.countDocuments({ ...bot, quarantinedAt: { $exists: true } }),
]);
const four = await deps.votes.countDocuments({
  username: { $in: HOUSEHOLD },
  source: 'web',
  excludedAt: null,
});
console.log(`${votes} votes from ${networks} networks for ${count} servers in ${seconds.toFixed(0)} s:`);
console.log(`  counted ${counted}, quarantined ${quarantined}, refused ${votes - counted - quarantined}`);
for (const [code, times] of results) console.log(`  ${code}: ${times}`);
console.log(
  `household of four: ${four} of ${HOUSEHOLD.length * count} votes counted (${[...new Set(household)].join(', ')})`,
);
await environment.close();
