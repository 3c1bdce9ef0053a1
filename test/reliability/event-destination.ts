import { ObjectId } from 'mongodb';
import { addSubscription } from '../../src/events/subscriptions.ts';
import { setGoal } from '../../src/goals/change-goal.ts';
import type { AppDeps } from '../../src/process/app-deps.ts';
import type { EventReceipt } from './history.ts';
import { type Listening, startSite, type Target } from './targets.ts';

/** A website that gets the events of a server with a rolling goal; beside it the server has a dead destination. */
export type EventDestination = Listening & {
  serverId: string;
  subscriptionId: ObjectId;
  /** Of its goal, in votes. */
  goalTarget: number;
  answers504(): void;
  close(): Promise<void>;
};

/** Reached several times, even in a short storm. */
const GOAL_TARGET = 10;
const DEAD_URL = 'http://127.0.0.1:1/';

/** Events that come are noted. */
export async function addEventDestination(
  deps: AppDeps,
  { serverId }: Pick<Target, 'serverId'>,
  events: EventReceipt[],
): Promise<EventDestination> {
  const id = new ObjectId(serverId);
  const site = await startSite((eventId, { type, data }) => {
    const about = type === 'goal.reached' ? `round ${data.round}` : data.vote_id;
    events.push({ serverId, eventId, type, about });
  });
  const kinds = ['vote.counted' as const, 'goal.reached' as const];
  const add = (name: string, url: string) =>
    addSubscription(deps, id, { type: 'http', name, kinds, url }, 'storm');
  await add('Dead', DEAD_URL);
  const { subscription, secret } = await add('Storm', `http://127.0.0.1:${site.port}/events`);
  site.secret = secret ?? '';
  await setGoal(deps, id, { target: String(GOAL_TARGET), period: 'rolling', text: '' }, 'storm');
  return { ...site, serverId, subscriptionId: subscription._id, goalTarget: GOAL_TARGET };
}
