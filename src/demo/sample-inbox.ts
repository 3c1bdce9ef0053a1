import { ObjectId } from 'mongodb';
import { complain } from '../moderation/complaints.ts';
import { after, DAY, HOUR, MINUTE, SECOND } from '../platform/clock.ts';
import { dayOf, startOfDay } from '../platform/periods/period-marks.ts';
import type { AppDeps } from '../process/app-deps.ts';
import { CastDeadline } from '../votes/cast/cast-deadline.ts';
import { castVote } from '../votes/cast/cast-vote.ts';
import { openQuarantine } from '../votes/exclusions/quarantine.ts';
import { requestExclusion } from '../votes/exclusions/request-exclusion.ts';
import { usernameKey } from '../votes/username.ts';
import { networkLimits } from '../votes/web/network-limits.ts';
import { widerNetworkKey } from '../votes/web/origin-keys.ts';
import type { ListedSample } from './sample-days.ts';

/** Of networks for documentation (RFC 5737), so no visitor is in them. */
const VOTING_NETWORK = '203.0.113.77';
const REPORTING_NETWORKS = ['198.51.100.20', '192.0.2.31'];

const CAST_MS = 10 * SECOND;

/** What an operator finds in the admin area: held votes, reports of servers, and an exclusion. */
export async function writeSampleInbox(deps: AppDeps, listed: ListedSample[]): Promise<void> {
  const [first, second, , fourth] = listed;
  if (first) await holdVotes(deps, first, { ago: 95 * MINUTE, names: 7 });
  if (fourth) await holdVotes(deps, fourth, { ago: 40 * MINUTE, names: 11 });
  if (fourth) await report(deps, fourth);
  if (second) await excludeVotes(deps, second);
}

function at(deps: AppDeps, time: Date): AppDeps {
  return { ...deps, clock: { now: () => time } };
}

/** One network voted with many names. */
async function holdVotes(
  deps: AppDeps,
  { serverId }: ListedSample,
  { ago, names }: { ago: number; names: number },
) {
  const begun = after(deps.clock.now(), -ago);
  const { newPlayers } = networkLimits(deps.config);
  const reason = `More than ${newPlayers} players of one network voted for the first time within an hour.`;
  const heldFor = { cause: 'network', origin: widerNetworkKey(deps, VOTING_NETWORK) } as const;
  const quarantineId = await openQuarantine(at(deps, begun), serverId, reason, heldFor);
  for (let number = 0; number < names; number++) {
    const username = `Grinder${1_200 + 37 * number}`;
    const vote = { serverId, username, usernameKey: usernameKey(username), tokenId: null, quarantineId };
    const then = at(deps, after(begun, number * 95 * SECOND));
    await castVote(then, vote, new CastDeadline(CAST_MS));
  }
}

const REPORTS = [
  {
    kind: 'fake-figures',
    text: 'It shows 1,100 players, and we were nine in the lobby. Nobody answers in the chat either.',
  },
  { kind: 'offensive', text: 'Their Discord posts the addresses of players who left.' },
] as const;

async function report(deps: AppDeps, { serverId }: ListedSample): Promise<void> {
  for (const [index, input] of REPORTS.entries()) {
    const then = at(deps, after(deps.clock.now(), -(3 + 5 * index) * HOUR));
    await complain(then, serverId, input, { address: REPORTING_NETWORKS[index] ?? '', userId: null });
  }
}

async function excludeVotes(deps: AppDeps, { serverId }: ListedSample): Promise<void> {
  // At noon, when its players vote: at night, nobody does.
  const since = after(startOfDay(dayOf(after(deps.clock.now(), -8 * DAY))), 12 * HOUR);
  const range = { serverId, since, until: after(since, 2 * HOUR), tokenId: null };
  const reasons = {
    reason: 'A script voted under invented names for two hours.',
    reasonForOwner:
      'The votes of these two hours came from a script. Votes of your players before and after count.',
  };
  const by = 'operator@example.org';
  await requestExclusion(deps, new ObjectId(), { ...range, ...reasons }, by);
}
