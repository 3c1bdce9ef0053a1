/**
 * Simulates farms that vote with the vote form, and honest groups beside them, over some days of a moved clock, with
 * the functions that the pages call. Prints how many votes of each were counted, held and refused on each day. A farm
 * tries as much as it can: it makes accounts, votes every hour with every name that was not refused, and comes back
 * with the names that were counted. Each day the votes that are not held are delivered to the vote listener of the
 * group’s server. Challenges have a small secret number, because their cost is not the subject.
 *
 *   node bench/votes/farms.ts [days] [only the groups with this text in their title]
 *
 *   node bench/votes/farms.ts 15
 */

import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import { ObjectId } from 'mongodb';
import { countMail } from '../../src/accounts/mail-limits.ts';
import { establishedAccount } from '../../src/accounts/mailbox.ts';
import { takeSignUp } from '../../src/accounts/sign-up-limits.ts';
import { setListener } from '../../src/delivery/change-listener.ts';
import { drainListener } from '../../src/delivery/drain/drain-listener.ts';
import { createVoteSender, openListener } from '../../src/delivery/send-vote.ts';
import { VotifierListener } from '../../src/demo/votifier-listener.ts';
import { after, DAY, HOUR, MINUTE, SECOND } from '../../src/platform/clock.ts';
import { CastDeadline } from '../../src/votes/cast/cast-deadline.ts';
import { castVoteFromPage, challengeFor } from '../../src/votes/cast/cast-from-page.ts';
import { addOwnedServer, addOwner } from '../../test/support/owned-server.ts';
import { stoppedClock } from '../../test/support/stopped-clock.ts';
import { solve } from '../../test/support/vote-form.ts';
import { openEnvironment } from '../delivery/environment.ts';

const [first = '3', only = ''] = process.argv.slice(2);
const days = Number(first);
const MIDNIGHT = new Date('2026-11-21T00:00:00Z');

Object.assign(crypto, { randomInt: () => 1 });
syncBuiltinESMExports();

const clock = stoppedClock(MIDNIGHT);
const environment = await openEnvironment();
const deps = { ...environment.deps, clock };
const ownerId = await addOwner(deps);

type Account = { id: ObjectId; email: string; createdAt: Date };
/** A player name that votes from one address, with or without an account. */
type Name = { username: string; address: string; account?: Account };
type Outcome = 'counted' | 'held' | 'refused';

async function vote(serverId: ObjectId, { username, address, account }: Name): Promise<Outcome> {
  const server = await deps.servers.findOne({ _id: serverId });
  if (!server) throw new Error('no such server');
  const user = account && { email: account.email, emailVerified: true, createdAt: account.createdAt };
  const voter = { address, account: user ? establishedAccount(user, clock.now()) : null };
  let proof = '';
  if (!voter.account) {
    const made = await challengeFor(deps, { server, username, voter });
    if (made.kind !== 'challenge') return 'refused';
    proof = await solve(made.challenge);
  }
  const result = await castVoteFromPage(
    deps,
    { server, username, voter, proof },
    new CastDeadline(20 * SECOND),
  );
  if (result.kind !== 'accepted') return 'refused';
  return result.isQuarantined ? 'held' : 'counted';
}

const listener = new VotifierListener();
await listener.start();
const send = createVoteSender(deps.config);
const never = new AbortController().signal;

/** Sets the vote listener of a server. */
async function listen(serverId: ObjectId): Promise<void> {
  const { port, token: secret } = listener;
  const settings = { protocol: 'votifier-v2', host: '127.0.0.1', port, secret } as const;
  await setListener(deps, serverId, { ...settings, serviceName: 'Tallyport' }, 'bench');
}

/** Sends the due votes of a server, as a worker does. */
async function deliver(serverId: ObjectId): Promise<void> {
  const open = (found: Parameters<typeof openListener>[1]) => openListener(deps.secrets, found);
  const options = { stop: never, waitNoLonger: never, budgetMs: 60_000 };
  let end = await drainListener({ ...deps, send, open }, serverId, { ...options, queue: 'forward-votes' });
  while (end.kind === 'moved')
    end = await drainListener({ ...deps, send, open }, serverId, { ...options, queue: end.to });
}

/** Signs a user up and confirms the address, if all limits allow it; null otherwise. */
async function signUp(email: string, address: string): Promise<Account | null> {
  if (await countMail(deps, { email, address })) return null;
  if (await takeSignUp(deps, { email, address })) return null;
  return { id: new ObjectId(), email, createdAt: clock.now() };
}

/** A group of voters. On each day, names that voted earlier vote first. */
type Group = {
  title: string;
  /** The highest number of players on the group's server. */
  peak: number;
  /** Casts the votes of a day. `when` converts an hour to a time. */
  day: (serverId: ObjectId, day: number, when: (hour: number) => Date) => Promise<Outcome[]>;
};

/**
 * A farm with some addresses. It creates as many accounts as it can, and votes with as many new names as it can: at
 * most 40 of each a day per address.
 *
 * @param mailDomainOf - the mail domain of the accounts of an address; null if it creates none
 */
function farm(
  title: string,
  addresses: string[],
  mailDomainOf: (address: number) => string | null,
  visitors = true,
): Group {
  const names: Name[] = [];
  let made = 0;
  return {
    title,
    peak: 12,
    async day(serverId, _day, when) {
      clock.set(when(0));
      for (const [index, address] of addresses.entries()) {
        const domain = mailDomainOf(index);
        for (let n = 0; n < 40; n += 1) {
          const account = domain === null ? null : await signUp(`farm${made}@${domain}`, address);
          if (!account) break;
          names.push({ username: `F${made}x${serverId.toHexString().slice(-4)}`, address, account });
          made += 1;
        }
      }
      const outcomes: Outcome[] = [];
      const voted = new Set<Name>();
      const closed = new Set<string>();
      for (let hour = 0; hour < 23; hour += 1) {
        clock.set(when(hour));
        for (const address of addresses) {
          const own = names.filter((one) => one.address === address && !voted.has(one));
          const fresh = visitors
            ? Array.from({ length: 40 }, (): Name => {
                made += 1;
                return { username: `F${made}x${serverId.toHexString().slice(-4)}`, address };
              })
            : [];
          for (const name of [...own, ...fresh]) {
            if (!name.account && closed.has(address)) break;
            const outcome = await vote(serverId, name);
            if (!(outcome === 'refused' && closed.has(address))) outcomes.push(outcome);
            if (outcome === 'refused' && !name.account) closed.add(address);
            if (outcome !== 'refused') voted.add(name);
            if (outcome === 'counted' && !names.includes(name)) names.push(name);
            // The limit of this hour is used up.
            if (outcome === 'held') break;
          }
        }
      }
      return outcomes;
    },
  };
}

/**
 * A farm with one address that first votes for other servers, each day under one name for each, so that its names come
 * back to the network. Then the same names vote for the group's server without an account.
 *
 * @param account - the account that votes for the other servers; undefined if visitors do
 */
function ripened(title: string, address: string, account?: Account): Group {
  const others: ObjectId[] = [];
  return {
    title,
    peak: 12,
    async day(serverId, _day, when) {
      for (let n = others.length; n < 30; n += 1)
        others.push(
          await addOwnedServer(deps, ownerId, { name: `${title} ${n}`, address: `o${n}.example.org` }),
        );
      clock.set(when(0));
      const names = many(30, (n): Name => ({ username: `Ripe${n}`, address }));
      for (const [n, name] of names.entries())
        await vote(others[n] as ObjectId, account ? { ...name, account } : name);
      const outcomes: Outcome[] = [];
      const open = new Set(names);
      for (let hour = 1; hour < 20; hour += 1) {
        clock.set(when(hour));
        for (const name of open) {
          const outcome = await vote(serverId, name);
          if (outcome === 'refused') continue;
          outcomes.push(outcome);
          open.delete(name);
        }
      }
      return outcomes;
    },
  };
}

/** Honest players, who all vote within one hour of each day. */
function players(title: string, peak: number, names: Name[]): Group {
  return {
    title,
    peak,
    async day(serverId, _day, when) {
      clock.set(when(18));
      const outcomes: Outcome[] = [];
      for (const name of names) outcomes.push(await vote(serverId, name));
      return outcomes;
    },
  };
}

const many = <T>(count: number, make: (n: number) => T) => Array.from({ length: count }, (_, n) => make(n));
const longAgo = after(MIDNIGHT, -60 * DAY);
const pupil = (n: number): Name => ({ username: `Pupil${n}`, address: '192.0.2.1' });

const groups: Group[] = [
  farm('farm: one IPv4 address', ['20.0.0.1'], () => 'farm-a.example'),
  farm(
    'farm: one /24, 50 addresses',
    many(50, (n) => `20.1.0.${n + 1}`),
    (n) => `farm-b${n}.example`,
  ),
  farm(
    'farm: one mail domain, 50 networks, accounts only',
    many(50, (n) => `${30 + n}.2.0.1`),
    () => 'farm-c.example',
    false,
  ),
  farm(
    'farm: 50 networks, 50 mail domains',
    many(50, (n) => `${100 + n}.3.0.1`),
    (n) => `farm-d${n}.example`,
  ),
  ripened('farm: one IPv4 address, 30 names that voted for 30 other servers', '20.4.0.1'),
  ripened('farm: the same, there with one account older than 7 days', '20.5.0.1', {
    id: new ObjectId(),
    email: 'ripe@gmail.com',
    createdAt: longAgo,
  }),
  players(
    'household of four, no accounts',
    12,
    many(4, (n) => ({ username: `Home${n}`, address: '198.51.100.9' })),
  ),
  players(
    'class of 25, accounts older than 7 days',
    12,
    many(25, (n) => ({
      ...pupil(n),
      account: { id: new ObjectId(), email: `pupil${n}@gmail.com`, createdAt: longAgo },
    })),
  ),
  players(
    'class of 25, no accounts',
    12,
    many(25, (n) => ({ ...pupil(n), address: '192.0.3.1' })),
  ),
  players(
    'vote party of 200, all new, peak of 100 players',
    100,
    many(200, (n) => ({ username: `Party${n}`, address: `${n + 10}.77.${n}.1` })),
  ),
];

console.log(`node bench/votes/farms.ts ${days} ${only}`);
const rows: string[] = [];
for (const [index, group] of groups.entries()) {
  if (!group.title.includes(only)) continue;
  clock.set(MIDNIGHT);
  await deps.rateLimits.deleteMany({});
  const settings = { name: `Server ${index}`, address: `s${index}.example.org` };
  const serverId = await addOwnedServer(deps, ownerId, settings);
  await deps.servers.updateOne({ _id: serverId }, { $set: { 'daily.peakPlayers': group.peak } });
  await listen(serverId);
  const perDay: string[] = [];
  let counted = 0;
  let ofThree = 0;
  for (let day = 0; day < days; day += 1) {
    // Each day begins ten minutes later than the day before, so that no cooldown is left.
    const when = (hour: number) => after(MIDNIGHT, day * DAY + hour * HOUR + (day + 1) * MINUTE);
    const outcomes = await group.day(serverId, day, when);
    await deliver(serverId);
    const of = (outcome: Outcome) => outcomes.filter((one) => one === outcome).length;
    perDay.push(`${of('counted')}/${of('held')}`);
    counted += of('counted');
    if (day < 3) ofThree += of('counted');
  }
  const delivered = await deps.votes.countDocuments({ serverId, 'delivery.state': 'delivered' });
  const accepted = await deps.votes.countDocuments({ serverId });
  rows.push(
    `| ${group.title} | ${perDay.join(' | ')} | ${ofThree} | ${counted} | ${delivered} of ${accepted} |`,
  );
  console.log(rows.at(-1));
}
console.log('\nEach day: votes counted/held.');
console.log(`| Group | ${many(days, (n) => `day ${n + 1}`).join(' | ')} | three days | all | delivered |`);
console.log(`|---|${'---|'.repeat(days + 3)}`);
for (const row of rows) console.log(row);
await listener.stop();
await environment.close();
