/**
 * Shows the effect of honest and of bought votes of 30 days on a rank: if only the votes count, and with the formula of
 * ADR 109:
 *
 *   node bench/ranking/evidence.ts
 *
 * It prints the table of README.md in this folder.
 */
import { type Group, type Simulated, withSimulation } from './simulated-days.ts';

const honest = (votes: number, more: Partial<Group> = {}): Group => ({
  name: 'h',
  votes,
  before: 20,
  ...more,
});
const once = (day: number) => day === 20;
const schoolDay = (day: number) => day % 7 < 5;

const SERVERS: Simulated[] = [
  {
    title: 'honest, large: 600 players, 380 regulars and 40 new names a day',
    peak: () => 600,
    groups: [honest(380), { name: 'n', votes: 40 }],
  },
  {
    title: 'honest, small: 12 players, 36 regulars, four of them at home',
    peak: () => 12,
    groups: [honest(32), honest(4, { name: 'home', together: 4 })],
  },
  {
    title: 'the same through the API, 37 a day, of names that voted on the page before',
    peak: () => 12,
    groups: [honest(37, { together: 0, known: true })],
  },
  {
    title: 'the same through the API, 37 a day, none on the page',
    peak: () => 12,
    groups: [honest(37, { together: 0 })],
  },
  { title: 'the same, a game that cannot be asked, 38 a day', peak: () => null, groups: [honest(38)] },
  {
    title: 'new on the list, 12 players, 39 voters a day',
    peak: () => 12,
    groups: [{ name: 'h', votes: 39 }],
  },
  {
    title: 'vote party: 120 players, 25 a day, and 200 new names on one day',
    peak: () => 120,
    groups: [honest(25), { name: 'party', votes: 200, on: once }],
  },
  {
    title: 'school: 15 players, 15 a day, and a class of 25 on school days',
    peak: () => 15,
    groups: [honest(15), { name: 'class', votes: 25, together: 25, on: schoolDay }],
  },
  {
    title: 'bought: 500 of one network on one day, beside 20 honest a day',
    peak: () => 12,
    groups: [honest(20), { name: 'b', votes: 500, together: 500, on: once }],
  },
  {
    title: 'bought: 500 of 50 networks on one day, beside 20',
    peak: () => 12,
    groups: [honest(20), { name: 'b', votes: 500, together: 10, on: once }],
  },
  {
    title: 'bought: 5,000 residential addresses on one day, beside 20',
    peak: () => 12,
    groups: [honest(20), { name: 'b', votes: 5_000, on: once }],
  },
  {
    title: 'bought: the same 500 residential addresses every day, beside 20',
    peak: () => 12,
    groups: [honest(20), { name: 'b', votes: 500 }],
  },
  {
    title: 'invented: 500 names through the API every day, nobody plays',
    peak: () => 0,
    groups: [{ name: 'b', votes: 500, together: 0 }],
  },
];

await withSimulation(async (simulate) => {
  const rows = await simulate(SERVERS);
  const byVotes = rows.toSorted((a, b) => b.votes - a.votes);
  console.log(
    '| Server, 30 days | Votes | Rank by votes | Votes for the rank | Rank | Waiting |\n|---|---|---|---|---|---|',
  );
  for (const row of rows) {
    const { title, votes, rankVotes, ranks, waiting, unknown } = row;
    const shown = [votes, byVotes.indexOf(row) + 1, rankVotes, ranks.at(-1) ?? 0, waiting + (unknown ?? 0)];
    console.log(`| ${title} | ${shown.map((n) => n.toLocaleString('en')).join(' | ')} |`);
  }
});
