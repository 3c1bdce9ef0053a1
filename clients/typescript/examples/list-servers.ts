/**
 * Lists the servers of a game that are online, without a token. It reads `TALLYPORT_URL` from the environment:
 * `node list-servers.ts minecraft`.
 */
import { createListing } from '@tallyport/client';

const { TALLYPORT_URL = '' } = process.env;
const listing = createListing({ url: TALLYPORT_URL });

const [, , game] = process.argv;
for await (const server of listing.servers({ ...(game ? { game } : {}), online: 'true', sort: 'players' })) {
  const players = server.online_players ?? 'hidden';
  console.log(`${server.name}: ${server.address}:${server.connection_port}, players: ${players}`);
}
