/**
 * The far end of asking.ts, in a process of its own. More servers of each kind than are asked at once: gamedig
 * takes one answer for the answer to every query of the same address and port that is under way.
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
