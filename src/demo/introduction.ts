import type { Newcomer } from './newcomer.ts';
import type { SampleUsers } from './sample-users.ts';

type Introduced = {
  url: string;
  dataDir: string;
  server: { serverId: string; slug: string; name: string; token: string };
  /** The name of a player who has not voted yet. */
  player: string;
  users: SampleUsers;
  newcomer: Newcomer;
  /** How long the listener of `server` is stopped on request. */
  awaySeconds: number;
  pid: number;
  hasKeys: boolean;
  /** The server that fetches its votes with the relay; null without Java. */
  relayed: string | null;
  /** The server whose listener does not answer. */
  down: string;
  /** For holding: two servers, and how many new players of one network the vote form takes for each. */
  holding: { servers: [string, string]; newPlayers: number; newPlayersOverAll: number };
};

export function introduction(values: Introduced): string {
  const { url, dataDir, server, player, users, newcomer, awaySeconds, pid, hasKeys, relayed, down, holding } =
    values;
  const { servers, newPlayers, newPlayersOverAll } = holding;
  return `
Tallyport demo at ${url}. Every server, player, vote and review in it is made up.

  Sign in at ${url}/sign-in
    as an owner of servers  ${users.owner.email}      ${users.owner.password}
    as the operator         ${users.operator.email}   ${users.operator.password}

Vote for ${server.name} on its page:

  ${url}/servers/${server.slug}/vote?username=${player}

The vote arrives below, as the game server's vote listener received it. A plugin casts one with the API:

  curl -X POST ${url}/api/v1/servers/${server.serverId}/vote \\
    -H 'Authorization: Bearer ${server.token}' \\
    -H 'Content-Type: application/json' -d '{"username": "${player}"}'

Stop that listener for ${awaySeconds} s ${hasKeys ? 'with the key s, or from another terminal with' : 'from another terminal with'}

  kill -USR2 ${pid}

${
  relayed
    ? `${relayed} has no open port: the relay fetches its votes and hands them to its Votifier.`
    : 'No server fetches its votes with the relay here: it needs Java, which is not installed.'
}

The listener of ${down} is down, and its votes wait. As the owner, set it to the vote listener below: they arrive.

The vote form has its usual limits: ${newPlayers} new players of a network for a server and day, then it refuses. Vote as ${newPlayers}
players for ${servers[0]} and as ${newPlayersOverAll - newPlayers + 1} for ${servers[1]}: the last vote is held, and waits in the operator's inbox.

To try it as a new owner, sign up at ${url}/sign-up and add a server.

  Its address        127.0.0.1, port ${newcomer.game.port}, Minecraft: Java Edition
  Its message        echo 'THE CODE YOU ARE GIVEN' > ${newcomer.messageFile}
  Its vote listener  Votifier v2 at 127.0.0.1, port ${newcomer.listener.port}, token ${newcomer.listener.token}

  API reference  ${url}/docs
  Command line   DATA_DIR=${dataDir} npm run -s tallyport -- vote list ${server.slug}

Ctrl-C stops the demo.
`;
}
