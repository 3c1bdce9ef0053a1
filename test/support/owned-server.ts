import { ObjectId } from 'mongodb';
import type { Platform } from '../../src/process/platform.ts';
import { addServer } from '../../src/servers/listing.ts';
import type { NewServer } from '../../src/servers/server-settings.ts';

/** A listed server that belongs to a user. */
export async function addOwnedServer(
  platform: Platform,
  ownerId: ObjectId,
  settings: Partial<NewServer> = {},
): Promise<ObjectId> {
  const added = { name: 'Alpha Craft', address: 'play.example.org', port: 25_565, ...settings };
  const serverId = new ObjectId((await addServer(platform, added, 'test')).serverId);
  await platform.servers.updateOne({ _id: serverId }, { $set: { ownerId } });
  return serverId;
}
