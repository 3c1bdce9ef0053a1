import { type DeliveryBench, deliveryBench } from '../support/delivering.ts';
import { type SignedInUser, signIn } from '../support/sign-in.ts';
import { getPage, openWebAppOn, sendForm, textOf, type WebApp } from '../support/web-app.ts';

/** A server whose owner is signed in, with its listener running. */
export type OwnerFixture = DeliveryBench & {
  web: WebApp;
  owner: SignedInUser;
  /** Opens a page of the server: `/listener`. */
  get(part: string): ReturnType<typeof getPage>;
  /** Sends a form of it. */
  post(part: string, fields?: Record<string, string>): ReturnType<typeof sendForm>;
  /** A page as text, without tags. */
  read(part: string): Promise<string>;
};

/** Opens a platform of its own with one owned server, its listener and the web application. */
export async function ownerFixture(env: Record<string, string> = {}): Promise<OwnerFixture> {
  const delivery = await deliveryBench(env);
  const { platform, serverId } = delivery;
  const web = await openWebAppOn(platform);
  const owner = await signIn(web);
  await platform.servers.updateOne({ _id: serverId }, { $set: { ownerId: owner.personId } });
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
