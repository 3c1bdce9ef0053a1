import type { ObjectId } from 'mongodb';
import { after, type Clock, DAY, HOUR } from '../../src/platform/clock.ts';
import { dayOf, startOfDay } from '../../src/platform/periods/period-marks.ts';
import { addOwnedServer } from '../support/owned-server.ts';
import { signIn } from '../support/sign-in.ts';
import type { WebApp } from '../support/web-app.ts';

/** A web application with a server for which players vote. */
export type VoteServer = WebApp & { serverId: ObjectId; slug: string };

/** Lists a server in the application. */
export async function withServer(
  web: WebApp,
  name = 'Alpha Craft',
  address = 'play.example.org',
): Promise<VoteServer> {
  const owner = await signIn(web);
  const serverId = await addOwnedServer(web.deps, owner.userId, { name, address });
  const server = await web.deps.servers.findOne({ _id: serverId });
  return { ...web, serverId, slug: server?.slug ?? '' };
}

export const voteOf = ({ deps, serverId }: VoteServer, username: string) =>
  deps.votes.findOne({ serverId, username });

/**
 * Ten o'clock (UTC) on the day after. Tests that share an application each begin there: what it counts in memory begins
 * again, and no test passes midnight.
 */
export function nextMorning(clock: Clock): Date {
  return after(startOfDay(dayOf(after(clock.now(), DAY))), 10 * HOUR);
}
