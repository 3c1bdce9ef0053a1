/** The game servers for round.ts, in their own process: four kinds of servers, which lose a share of the requests. */
import { BedrockServer, JavaServer, SourceServer } from '../../test/support/fake-game-servers.ts';
import { QuakeServer } from '../../test/support/fake-quake-server.ts';

const EACH = 100;
const lost = Number(process.argv[2]);
const kinds = { minecraft: JavaServer, teamfortress2: SourceServer, q3a: QuakeServer, mbe: BedrockServer };
const servers = Object.entries(kinds).flatMap(([game, Server]) =>
  Array.from({ length: EACH }, () => ({ game, server: new Server() })),
);
for (const { server } of servers) {
  server.manner = { lost };
  await server.start();
}
process.send?.(servers.map(({ game, server: { port } }) => ({ game, port })));
process.on('disconnect', () => process.exit());
