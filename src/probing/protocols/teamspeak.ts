import { decodeText, type TextFormat, textFormatOf } from '../../games/text-formats.ts';
import { SECOND } from '../../platform/clock.ts';
import { optional } from '../optional-question.ts';
import type { Asked, OwnProtocol } from '../own-protocol.ts';
import type { QueryConnections } from '../query-connections.ts';
import { QueryError } from '../query-error.ts';
import { countOf } from '../read-answer.ts';

/** One query port serves all TeamSpeak 3 servers of a machine; a command selects one by its port for players. */
export const TEAMSPEAK3 = {
  port: 10_011,
  greeting: 'TS3',
  // The number of digits is bounded. Otherwise the rest of a line without an end would be read again for each digit.
  end: /(?:^|[\r\n])error id=(\d{1,9}) ?([^\r\n]*)[\r\n]/,
};
export const TEAMSPEAK2 = { port: 51_234, greeting: '[TS]', end: /(?:^|\n)(OK|ERROR)([^\r\n]*)\r?\n/ };
type Dialect = typeof TEAMSPEAK3;

/** How long to wait for the figures of a server. Without them it is still online: it has accepted the selection. */
const FIGURES_MS = 2 * SECOND;

/** The answer of a server to a command. */
export type TeamSpeakReply = {
  /** The lines before the result, without empty ones. */
  lines: string[];
  /** Why the server refuses the command; null if it does not. */
  refusal: string | null;
};

/**
 * Queries a TeamSpeak 3 server by ServerQuery. Query clients, such as Tallyport itself, are not players. If the server
 * does not state how many clients it has, the clients in its list are counted.
 */
export const askTeamspeak3: OwnProtocol = async (asked, connections) => {
  const { shown } = textFormatOf(asked.game);
  const ask = await selectServer(asked, connections, TEAMSPEAK3, 'use port=');
  const reply = await optional(ask('serverinfo'), FIGURES_MS);
  const info = fieldsOf(reply?.refusal === null ? reply.lines.join(' ') : '');
  const counted = playersIn(info);
  // Without an answer to `serverinfo`, nothing more is asked: a late answer could be mistaken for the next one.
  const list = counted === undefined && reply ? await optional(ask('clientlist')) : undefined;
  return {
    name: info.get('virtualserver_name'),
    version: shown(info.get('virtualserver_version') ?? ''),
    players: counted ?? (list?.refusal === null ? playersInList(list.lines) : undefined),
    maxPlayers: info.get('virtualserver_maxclients'),
  };
};

/** Queries a TeamSpeak 2 server. If it does not state how many users it has, the users in its list are counted. */
export const askTeamspeak2: OwnProtocol = async (asked, connections) => {
  const ask = await selectServer(asked, connections, TEAMSPEAK2, 'sel ');
  const reply = await optional(ask('si'), FIGURES_MS);
  const info = new Map(reply?.refusal === null ? reply.lines.map(pairOf) : []);
  const counted = info.get('server_currentusers');
  const list = countOf(counted) === null && reply ? await optional(ask('pl')) : undefined;
  return {
    name: info.get('server_name'),
    version: '',
    // The first line of the list has the names of the columns.
    players: list?.refusal === null ? Math.max(0, list.lines.length - 1) : counted,
    maxPlayers: info.get('server_maxusers'),
  };
};

/**
 * Connects, and selects the server by its port for players.
 *
 * @returns a function that sends a command to the selected server
 * @throws {QueryError} when there is no connection, the greeting is not the expected one, or the port is refused
 */
async function selectServer(
  { server, target, game }: Asked,
  connections: QueryConnections,
  dialect: Dialect,
  selectCommand: string,
): Promise<(command: string) => Promise<TeamSpeakReply>> {
  const format = textFormatOf(game);
  const connection = await connections.connect(target.queryPort ?? dialect.port);
  const { greeting, end } = dialect;
  const ask = async (command: string, begin = '') =>
    (await connection.exchange(`${command}\n`, (bytes) => {
      // If a greeting is expected, the data must begin with it; while less has arrived, with a part of it.
      if (!begin.startsWith(bytes.toString('latin1', 0, begin.length))) throw notTeamspeak(server.where);
      return readTeamSpeakReply(bytes, format, end);
    })) as TeamSpeakReply;
  const { refusal } = await ask(`${selectCommand}${target.port}`, greeting);
  if (refusal !== null) {
    const why = format.shown(refusal);
    throw new QueryError('answer-broken', `${server.where} refuses the port ${target.port}: ${why}.`);
  }
  return (command) => ask(command);
}

const notTeamspeak = (where: string) =>
  new QueryError('answer-broken', `What ${where} sends is not an answer of this game.`);

/** Reads an answer. Returns undefined while its end is missing. */
export function readTeamSpeakReply(
  bytes: Buffer,
  format: TextFormat,
  end: RegExp,
): TeamSpeakReply | undefined {
  const text = decodeText(bytes, format);
  const found = end.exec(text);
  if (!found) return undefined;
  const { 1: result = '', 2: words = '', index } = found;
  const isAccepted = result === 'OK' || Number(result) === 0;
  const refusal = isAccepted ? null : (/(?:^| )msg=(\S*)/.exec(words)?.[1] ?? words.replace(/^, */, ''));
  return {
    lines: text
      .slice(0, index)
      .split(/[\r\n]+/)
      .filter(Boolean),
    refusal,
  };
}

/** Splits `a=b` into a name and a value. Without an equals sign the value is empty. */
function pairOf(text: string): [string, string] {
  const equals = text.indexOf('=');
  return equals < 0 ? [text, ''] : [text.slice(0, equals), text.slice(equals + 1)];
}

function fieldsOf(text: string): Map<string, string> {
  return new Map(text.split(' ').map(pairOf));
}

/** The number of clients that are not query clients; undefined if the server does not state it. */
function playersIn(info: Map<string, string>): number | undefined {
  const all = countOf(info.get('virtualserver_clientsonline'));
  const queries = countOf(info.get('virtualserver_queryclientsonline'));
  return all === null ? undefined : Math.max(0, all - (queries ?? 0));
}

/** How many clients in the answer to `clientlist` are not query clients. */
function playersInList(lines: string[]): number {
  const clients = lines.join('').split('|');
  return clients.filter((client) => fieldsOf(client).get('client_type') === '0').length;
}
