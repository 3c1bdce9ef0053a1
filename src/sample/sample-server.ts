import { ObjectId } from 'mongodb';
import { setListener } from '../delivery/listeners.ts';
import type { Platform } from '../platform.ts';
import { issueToken } from '../servers/api-tokens.ts';
import { addServer, editServer, findServer } from '../servers/listing.ts';
import type { SampleGameServer } from './game-server.ts';
import type { VotifierListener } from './votifier-listener.ts';

/** The slug of the server that the demo lists. */
const SAMPLE_SLUG = 'sample-server';

/** Says wherever it is seen that what is told of it was made up. */
const SAMPLE_NAME = 'Sample Server (made-up history)';

/** The demo's server, its token and its listener set. */
export type SampleServer = { serverId: string; slug: string; token: string };

/** What stands in for the game server: it hears votes, and answers probes. */
export type SampleGame = { listener: VotifierListener; game: SampleGameServer };

/**
 * Lists the sample server, or finds the one of an earlier demo, makes a token for it and points its address and
 * its vote listener to this demo's, which listen on other ports with every demo.
 */
export async function openSampleServer(
  platform: Platform,
  { listener, game }: SampleGame,
): Promise<SampleServer> {
  const serverId = await sampleServerId(platform);
  const seen = { name: SAMPLE_NAME, address: '127.0.0.1', port: game.port, game: 'minecraft' };
  await editServer(platform, serverId, seen, 'demo');
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
  // The name that gives the slug; the one that people see is set afterwards.
  const server = { name: 'Sample Server', address: '127.0.0.1', port: 25_565, countryCode: 'SE' };
  const { serverId } = await addServer(platform, server, 'demo');
  return new ObjectId(serverId);
}
