import { ObjectId } from 'mongodb';
import { setListener } from '../delivery/listeners.ts';
import type { Platform } from '../platform.ts';
import { issueToken } from '../servers/api-tokens.ts';
import { addServer, findServer } from '../servers/listing.ts';
import type { VotifierListener } from './votifier-listener.ts';

/** The slug of the server that the demo lists. */
const SAMPLE_SLUG = 'sample-server';

/** The demo's server, its token and its listener set. */
export type SampleServer = { serverId: string; slug: string; token: string };

/**
 * Lists the sample server, or finds the one of an earlier demo, makes a token for it and points its vote
 * listener to `listener`, which is new with every demo.
 */
export async function openSampleServer(
  platform: Platform,
  listener: VotifierListener,
): Promise<SampleServer> {
  const serverId = await sampleServerId(platform);
  const { token } = await issueToken(platform, { serverId, name: 'demo' });
  const settings = {
    protocol: 'votifier-v2',
    host: '127.0.0.1',
    port: listener.port,
    secret: listener.token,
    serviceName: platform.config.SERVICE_NAME,
  } as const;
  await setListener(platform, serverId, settings, 'demo');
  return { serverId: serverId.toHexString(), slug: SAMPLE_SLUG, token };
}

async function sampleServerId(platform: Platform): Promise<ObjectId> {
  const known = await findServer(platform, SAMPLE_SLUG);
  if (known) return known._id;
  const server = {
    name: 'Sample Server',
    address: 'play.example.org',
    port: 25_565,
    game: 'minecraft',
    countryCode: 'SE',
  };
  const { serverId } = await addServer(platform, server, 'demo');
  return new ObjectId(serverId);
}
