import { type DeliveryBench, deliveryBench } from '../support/delivering.ts';
import { getPage, type SignedInPerson, sendForm, signedInAs, type WebApp, webAppOn } from './web-app.ts';

/** A server with its owner at the pages and its listener running. */
export type OwnerBench = DeliveryBench & {
  web: WebApp;
  owner: SignedInPerson;
  /** Opens a page of the server: `/listener`. */
  get(part: string): ReturnType<typeof getPage>;
  /** Sends a form of it. */
  post(part: string, fields?: Record<string, string>): ReturnType<typeof sendForm>;
  /** A page as text, without tags. */
  read(part: string): Promise<string>;
};

/** Opens a platform of its own with one owned server, its listener and the web application. */
export async function ownerBench(env: Record<string, string> = {}): Promise<OwnerBench> {
  const bench = await deliveryBench(env);
  const web = await webAppOn(bench.platform);
  const owner = await signedInAs(web, 'owner');
  await bench.platform.servers.updateOne({ _id: bench.serverId }, { $set: { ownerId: owner.personId } });
  const path = `/dashboard/servers/${bench.serverId.toHexString()}`;
  const get = (part: string) => getPage(web, `${path}${part}`, owner.headers);
  return {
    ...bench,
    web,
    owner,
    get,
    post: (part, fields = {}) => sendForm(web, `${path}${part}`, fields, owner.headers),
    read: async (part) => textOf((await get(part)).body),
  };
}

/** What a page says, without tags. */
export function textOf(page: string): string {
  return page
    .replace(/<[^>]*>/g, ' ')
    .replace(/\s+/g, ' ')
    .replaceAll('&#39;', '’');
}
