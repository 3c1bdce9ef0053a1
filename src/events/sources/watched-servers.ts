import type { ObjectId } from 'mongodb';
import { watchedGoals } from '../../goals/count-goal.ts';
import type { EventsDeps } from '../deps.ts';
import { COLLECTING } from '../store-events.ts';

export type WatchedServer = {
  serverId: ObjectId;
  /** The oldest subscription's to votes or milestones; null if there is only a goal. */
  since: Date | null;
  wantsVotes: boolean;
  wantsMilestones: boolean;
  hasGoal: boolean;
  /** The goal must be counted even if no vote was cast. */
  isGoalDue: boolean;
};

/** Those with a vote goal or a subscription to votes or milestones, by id. */
export async function watchedServers(deps: EventsDeps): Promise<Map<string, WatchedServer>> {
  const watched = new Map<string, WatchedServer>();
  const watchedBy = (serverId: ObjectId) => {
    const id = serverId.toHexString();
    const server = watched.get(id) ?? {
      serverId,
      since: null,
      wantsVotes: false,
      wantsMilestones: false,
      hasGoal: false,
      isGoalDue: false,
    };
    watched.set(id, server);
    return server;
  };
  const wanting = { kinds: { $in: ['vote.counted', 'milestone'] }, ...COLLECTING } as const;
  const [found, goals] = await Promise.all([
    deps.subscriptions.find(wanting, { projection: { serverId: 1, kinds: 1, since: 1 } }).toArray(),
    watchedGoals(deps),
  ]);
  for (const { serverId, kinds, since } of found) {
    const server = watchedBy(serverId);
    if (!server.since || since < server.since) server.since = since;
    server.wantsVotes ||= kinds.includes('vote.counted');
    server.wantsMilestones ||= kinds.includes('milestone');
  }
  for (const { serverId, isDue } of goals) {
    const server = watchedBy(serverId);
    server.hasGoal = true;
    server.isGoalDue = isDue;
  }
  return watched;
}
