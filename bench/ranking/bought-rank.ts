/**
 * Shows what an owner gets who buys nothing: a false status answer and votes of invented names through the server's own
 * token, in a listing of 40 servers for 30 days. Then what five honest servers keep:
 *
 *   node bench/ranking/bought-rank.ts
 *
 * It prints the tables of README.md in this folder.
 */
import { DAYS, type Group, type Outcome, type Simulated, withSimulation } from './simulated-days.ts';

const honest = (votes: number, more: Partial<Group> = {}): Group => ({
  name: 'h',
  votes,
  before: 20,
  ...more,
});

/** 39 servers with 3 to 231 votes a day, of as many players as a third of that. */
const others = (count: number): Simulated[] =>
  Array.from({ length: count }, (_, i) => {
    const votes = 3 + 6 * i;
    return { title: `other ${i}`, peak: () => Math.ceil(votes / 3), groups: [honest(votes)] };
  });

const invented = (more: Partial<Group> = {}): Group => ({
  name: 'b',
  votes: 1_500,
  together: 0,
  fresh: true,
  ...more,
});
const fewHonest = honest(5);
const lies = (from: number) => (day: number) => (day < from ? 15 : 1_000);

/** Every third day, other names: on three days they use the network's places for new players, then the API. */
function laundered(names: number): Group[] {
  return Array.from({ length: DAYS / 3 }, (_, set): Group[] => [
    { name: `p${set}-`, votes: names, together: 4, on: (day) => day >= 3 * set && day < 3 * set + 3 },
    {
      name: `p${set}-`,
      votes: names,
      together: 0,
      known: true,
      before: 3,
      on: (day) => day >= 3 * set + 3,
    },
  ]).flat();
}

const ATTACKS: Simulated[] = [
  { title: 'no attack: 15 players, 5 votes a day', peak: () => 15, groups: [fewHonest] },
  {
    title: '1,500 invented names through the API on day 1, “1,000 players” from then on',
    peak: lies(0),
    groups: [fewHonest, invented({ on: (day) => day === 0 })],
  },
  {
    title: '1,500 other names every day, “1,000 players” from day 1 on',
    peak: lies(0),
    groups: [fewHonest, invented()],
  },
  {
    title: 'the same 1,500 names every day, “1,000 players” for ten days before',
    peak: () => 1_000,
    groups: [fewHonest, invented({ fresh: false })],
  },
  {
    title: 'the same, and the game cannot be asked: 25 players are assumed',
    peak: () => null,
    groups: [fewHonest, invented({ fresh: false })],
  },
  {
    title:
      'one network has places for 4 new names a day: they vote on the page three times, then through the API',
    peak: () => 25,
    groups: [fewHonest, ...laundered(4)],
  },
  {
    title: 'the same with an IPv6 /48, which has 16 places, and “99 players”',
    peak: () => 99,
    groups: [fewHonest, ...laundered(16)],
  },
];

const joined = (peak: number) => (day: number) => (day < 0 ? null : peak);
const firstDays = (day: number) => day < 3;
const laterDays = (day: number) => day >= 3;

const HONEST: Simulated[] = [
  {
    title: 'a large one joins: 600 players, 380 votes a day and 40 of new names',
    peak: joined(600),
    groups: [honest(380, { before: 0 }), { name: 'n', votes: 40, fresh: true }],
  },
  {
    title: 'the same, its votes imported: 380 are of regulars',
    peak: joined(600),
    groups: [honest(380), { name: 'n', votes: 40, fresh: true }],
  },
  {
    title: 'the same, its votes and its history imported',
    peak: () => 600,
    groups: [honest(380), { name: 'n', votes: 40, fresh: true }],
  },
  {
    title: 'a video on day 11: from 30 players and 40 votes a day to 400 and 640',
    peak: (day) => (day < 10 ? 30 : 400),
    groups: [honest(40), { name: 'v', votes: 600, on: (day) => day >= 10 }],
  },
  {
    title: 'a small one joins: 12 players, 37 votes a day',
    peak: joined(12),
    groups: [honest(37, { before: 0 })],
  },
  {
    title: 'the same, all its votes come through the API',
    peak: joined(12),
    groups: [honest(37, { before: 0, together: 0 })],
  },
  {
    title: 'the same, and each player votes on the page on the first three days',
    peak: joined(12),
    groups: [
      honest(37, { before: 0, on: firstDays }),
      honest(37, { before: 3, together: 0, known: true, on: laterDays }),
    ],
  },
];

/** The first day, 1 to 30, from which on all days count in full; null if the last day does not. */
function fullFrom({ days }: Outcome): number | null {
  const last = days.findLastIndex(({ votes, rankVotes }) => rankVotes < votes);
  return last === DAYS - 1 ? null : last + 2;
}

const shown = (value: number) => value.toLocaleString('en');

await withSimulation(async (simulate) => {
  console.log(
    '| What the owner does | Votes | Votes for the rank | Rank after 1, 5, 10, 30 days |\n|---|---|---|---|',
  );
  for (const attack of ATTACKS) {
    const [result] = (await simulate([attack, ...others(39)])) as [Outcome];
    const ranks = [1, 5, 10, 30].map((day) => result.ranks[day - 1]).join(', ');
    console.log(`| ${attack.title} | ${shown(result.votes)} | ${shown(result.rankVotes)} | ${ranks} |`);
  }
  console.log(
    '\n| Honest server | Votes | Votes for the rank | Part | In full from day |\n|---|---|---|---|---|',
  );
  for (const one of await simulate(HONEST)) {
    const part = `${Math.round((100 * one.rankVotes) / one.votes)} %`;
    console.log(
      `| ${one.title} | ${shown(one.votes)} | ${shown(one.rankVotes)} | ${part} | ${fullFrom(one) ?? 'never'} |`,
    );
  }
});
