import type { Game } from '../../games/games.ts';
import { decodeText, type TextFormat, textFormatOf } from '../../games/text-formats.ts';
import { optional } from '../optional-question.ts';
import type { OwnProtocol } from '../own-protocol.ts';
import type { QueryConnections } from '../query-connections.ts';
import { countOf, type Said } from '../read-answer.ts';

/**
 * A question, and the beginning of its answer as Latin-1. `pingAt`: where the ping is in the line of a client; null if
 * the answer has no such lines.
 */
type Dialect = { question: string; answer: string; pingAt: number | null };

const PREFIX = '\xff\xff\xff\xff';
const QUAKE3: Dialect = { question: 'getstatus\0', answer: 'statusResponse\n', pingAt: 1 };
const DIALECTS: Record<string, Dialect> = {
  hexen2: { question: '\xffstatus\n\0', answer: '\xffn', pingAt: 3 },
  quake1: { question: 'status\0', answer: 'n', pingAt: 3 },
  quake2: { question: 'status\0', answer: 'print\n', pingAt: 1 },
};
const FIVEM: Dialect = { question: 'getinfo xxx\0', answer: 'infoResponse\n', pingAt: null };

/** Queries a server with a Quake engine for its status: its settings, and a line for each client. */
export const askQuake: OwnProtocol = ({ game }, connections) =>
  askStatus(game, DIALECTS[game.protocol] ?? QUAKE3, connections);

/** Queries a FiveM or RedM server. Only `/info.json` has the version, and many servers do not serve that file. */
export const askFivem: OwnProtocol = async ({ server, game }, connections) => {
  const said = await askStatus(game, FIVEM, connections);
  const { address, port } = server;
  const info = connections.request({ url: `http://${address}:${port}/info.json`, responseType: 'json' });
  return { ...said, version: fivemVersion(await optional(info)) };
};

async function askStatus(game: Game, dialect: Dialect, connections: QueryConnections): Promise<Said> {
  const question = Buffer.from(`${PREFIX}${dialect.question}`, 'latin1');
  const status = await connections.askDatagram(question, (datagram) => readStatus(datagram, dialect.answer));
  return statusSaid(status, textFormatOf(game), dialect.pingAt);
}

/**
 * Reads the version from the field `server`, such as `FXServer-master SERVER v1.0.0.7290 win32`. The fields `version`
 * and `iv` are only hashes of the settings.
 */
export function fivemVersion(info: unknown): string {
  const { server } = Object(info) as { server?: unknown };
  return (
    (typeof server === 'string' && /\bv?\d{1,9}(?:\.\d{1,9}){1,5}\b/.exec(server.slice(0, 300))?.[0]) || ''
  );
}

/** Each server has at least one of these settings. */
const IDENTIFYING = ['hostname', 'sv_hostname', 'maxclients', 'sv_maxclients'];

/** The settings of a server by name, and the lines of its clients. All texts are bytes read as Latin-1. */
export type QuakeStatus = { settings: Map<string, string>; clients: string[] };

/**
 * Reads an answer. Returns undefined if the datagram does not answer this question, for example if it is only a header.
 */
export function readStatus(datagram: Buffer, answer: string): QuakeStatus | undefined {
  const text = datagram.toString('latin1');
  const begin = `${PREFIX}${answer}`;
  if (!text.startsWith(begin)) return undefined;
  const [first = '', ...lines] = text.slice(begin.length).split('\n');
  // The settings begin with a backslash, which some servers leave out.
  const words = first.replace(/\0.*$/s, '').replace(/^\\/, '').split('\\');
  const settings = new Map<string, string>();
  for (let index = 0; index + 1 < words.length; index += 2) {
    settings.set(words[index] ?? '', words[index + 1] ?? '');
  }
  if (!IDENTIFYING.some((name) => settings.has(name))) return undefined;
  const end = lines.findIndex((line) => line === '' || line.startsWith('\0'));
  return { settings, clients: end < 0 ? lines : lines.slice(0, end) };
}

/** Converts a status to the common form of answers. Exported for its test. */
export function statusSaid(
  { settings, clients }: QuakeStatus,
  format: TextFormat,
  pingAt: number | null,
): Said {
  const setting = (...names: string[]) => names.map((name) => settings.get(name)).find(Boolean);
  const text = (value = '') => decodeText(Buffer.from(value, 'latin1'), format).trim();
  const statedPlayers =
    countOf(setting('g_humanplayers')) ?? withoutBots(setting('clients'), setting('bots'));
  return {
    name: text(setting('hostname', 'sv_hostname')),
    version: text(setting('*version', 'version')),
    players:
      statedPlayers ??
      (pingAt === null ? undefined : clients.filter((line) => isPerson(line, pingAt)).length),
    maxPlayers: setting('maxclients', 'sv_maxclients'),
  };
}

/** The number of clients without bots: DarkPlaces counts bots as clients. */
function withoutBots(clients: string | undefined, bots: string | undefined): number | null {
  const all = countOf(clients);
  return all === null ? null : Math.max(0, all - (countOf(bots) ?? 0));
}

/** Whether the line of a client is that of a person: the ping of a bot is 0. */
function isPerson(line: string, pingAt: number): boolean {
  const ping = Number.parseInt(line.trim().split(/\s+/, pingAt + 1)[pingAt] ?? '', 10);
  return !Number.isNaN(ping) && ping !== 0;
}
