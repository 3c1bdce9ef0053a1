/**
 * The game servers for asking.ts, in their own process. There are more servers of each kind than concurrent queries,
 * because gamedig uses one answer for all running queries of the same address and port.
 */
import { BedrockServer, JavaServer, SourceServer } from '../../test/support/fake-game-servers.ts';

const EACH = 256;
const kinds = { minecraft: JavaServer, mbe: BedrockServer, teamfortress2: SourceServer };
const servers = Object.entries(kinds).flatMap(([game, Server]) =>
  Array.from({ length: EACH }, () => ({ game, server: new Server() })),
);
for (const { server } of servers) await server.start();
process.send?.(servers.map(({ game, server: { port } }) => ({ game, port })));
process.on('disconnect', () => process.exit());
