import { startAnswering } from '../support/answering.ts';
import {
  type ClockedDeps,
  type DeliveryBench,
  deliveryBenchOn,
  openDeliveryDeps,
} from '../support/delivering.ts';
import { type SignedInUser, signIn } from '../support/sign-in.ts';
import { getPage, openWebAppOn, sendForm, textOf, type WebApp } from '../support/web-app.ts';

/** A server with a signed-in owner and a running listener. */
export type OwnerFixture = DeliveryBench & {
  web: WebApp;
  owner: SignedInUser;
  /** Opens a page of the server: `/listener`. */
  get(part: string): ReturnType<typeof getPage>;
  /** Sends a form of the server. */
  post(part: string, fields?: Record<string, string>): ReturnType<typeof sendForm>;
  /** A page as text, without tags. */
  read(part: string): Promise<string>;
};

/** A web application whose dependencies have a clock that the test moves. */
export type OwnerApp = WebApp & { deps: ClockedDeps };

/**
 * Opens the application on a database of its own, with a worker for the queue `answer-now`. Tests that do not move its
 * clock can share it.
 */
export async function openOwnerApp(env: Record<string, string> = {}): Promise<OwnerApp> {
  const deps = await openDeliveryDeps(env);
  const web = await openWebAppOn(deps);
  startAnswering(deps);
  return { ...web, deps };
}

/** Creates an owner, their server and its listener. */
export async function ownerFixture(web: OwnerApp): Promise<OwnerFixture> {
  const { deps } = web;
  const delivery = await deliveryBenchOn(deps);
  const { serverId } = delivery;
  const owner = await signIn(web);
  await deps.servers.updateOne({ _id: serverId }, { $set: { ownerId: owner.userId } });
  const path = `/dashboard/servers/${serverId.toHexString()}`;
  const get = (part: string) => getPage(web, `${path}${part}`, owner.headers);
  return {
    ...delivery,
    web,
    owner,
    get,
    post: (part, fields = {}) => sendForm(web, `${path}${part}`, fields, owner.headers),
    read: async (part) => textOf((await get(part)).body),
  };
}

/** The fields of a form with a Votifier v2 listener; the test adds the token. */
export const V2 = { protocol: 'votifier-v2', host: '127.0.0.1', port: '8192', serviceName: 'Tallyport' };

/** The stored listener of the server. */
export const shown = ({ deps, serverId }: OwnerFixture) => deps.listeners.findOne({ serverId });

/** The actions of the audit log about the server's listener and votes, each with the user. */
export async function audit({ deps, serverId }: OwnerFixture): Promise<[string, string][]> {
  const entries = await deps.auditLog
    .find({ serverId, action: /^(listener|vote)\./ })
    .sort({ _id: 1 })
    .toArray();
  return entries.map(({ action, by }) => [action, by]);
}
