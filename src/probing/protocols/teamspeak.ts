import { decodeText, type TextFormat, textFormatOf } from '../../games/text-formats.ts';
import { SECOND } from '../../platform/clock.ts';
import { optional } from '../optional-question.ts';
import type { Asked, OwnProtocol } from '../own-protocol.ts';
import type { QueryConnections } from '../query-connections.ts';
import { QueryError } from '../query-error.ts';
import { countOf } from '../read-answer.ts';

/** One query port serves all servers of a machine; a command selects one by its port for players. */
export const TEAMSPEAK3 = {
  port: 10_011,
  greeting: 'TS3',
  // Without a bound, the rest of a line without an end would be read again for each digit.
  end: /(?:^|[\r\n])error id=(\d{1,9}) ?([^\r\n]*)[\r\n]/,
};
export const TEAMSPEAK2 = { port: 51_234, greeting: '[TS]', end: /(?:^|\n)(OK|ERROR)([^\r\n]*)\r?\n/ };
type Dialect = typeof TEAMSPEAK3;

/** Without its figures a server is still online: it has accepted the selection. */
const FIGURES_MS = 2 * SECOND;

export type TeamSpeakReply = {
  /** Before the result, without empty ones. */
  lines: string[];
  /** Null if the command is accepted. */
  refusal: string | null;
};

/** ServerQuery. Query clients, such as Tallyport itself, are no players. Without a number the clients are counted. */
export const askTeamspeak3: OwnProtocol = async (asked, connections) => {
  const { shown } = textFormatOf(asked.game);
  const ask = await selectServer(asked, connections, TEAMSPEAK3, 'use port=');
  const reply = await optional(ask('serverinfo'), FIGURES_MS);
  const info = fieldsOf(reply?.refusal === null ? reply.lines.join(' ') : '');
  const counted = playersIn(info);
  // A late answer to `serverinfo` could be mistaken for the next one.
  const list = counted === undefined && reply ? await optional(ask('clientlist')) : undefined;
  return {
    name: info.get('virtualserver_name'),
    version: shown(info.get('virtualserver_version') ?? ''),
    players: counted ?? (list?.refusal === null ? playersInList(list.lines) : undefined),
    maxPlayers: info.get('virtualserver_maxclients'),
  };
};

/** Without a number the users in the list are counted. */
export const askTeamspeak2: OwnProtocol = async (asked, connections) => {
  const ask = await selectServer(asked, connections, TEAMSPEAK2, 'sel ');
  const reply = await optional(ask('si'), FIGURES_MS);
  const info = new Map(reply?.refusal === null ? reply.lines.map(pairOf) : []);
  const counted = info.get('server_currentusers');
  const list = countOf(counted) === null && reply ? await optional(ask('pl')) : undefined;
  return {
    name: info.get('server_name'),
    version: '',
    // The first line has the names of the columns.
    players: list?.refusal === null ? Math.max(0, list.lines.length - 1) : counted,
    maxPlayers: info.get('server_maxusers'),
  };
};

/** Selects by the port for players. @throws {QueryError} also when the greeting is not the expected one */
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
      // While less has arrived, the data must begin with a part of the greeting.
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

/** Undefined while its end is missing. */
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

/** Without an equals sign the value is empty. */
function pairOf(text: string): [string, string] {
  const equals = text.indexOf('=');
  return equals < 0 ? [text, ''] : [text.slice(0, equals), text.slice(equals + 1)];
}

function fieldsOf(text: string): Map<string, string> {
  return new Map(text.split(' ').map(pairOf));
}

/** Without query clients; undefined if the server does not state it. */
function playersIn(info: Map<string, string>): number | undefined {
  const all = countOf(info.get('virtualserver_clientsonline'));
  const queries = countOf(info.get('virtualserver_queryclientsonline'));
  return all === null ? undefined : Math.max(0, all - (queries ?? 0));
}

/** Query clients are not counted. */
function playersInList(lines: string[]): number {
  const clients = lines.join('').split('|');
  return clients.filter((client) => fieldsOf(client).get('client_type') === '0').length;
}
