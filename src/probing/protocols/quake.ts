import { decodeText, type TextFormat, textFormatOf } from '../../games/text-formats.ts';
import { OPTIONAL_MS, optional } from '../optional-question.ts';
import type { OwnProtocol } from '../own-protocol.ts';
import type { QueryConnections } from '../query-connections.ts';
import { countOf, peopleAmong, type UncheckedAnswer } from '../read-answer.ts';

/** Whether a client is a person and not a bot. `line`: the client's line in the server's status. */
type IsPerson = (line: string) => boolean;

/** A question and the beginning of its answer (as Latin-1). `isPerson` is null if the answer lists no clients. */
type Dialect = { question: string; answer: string; isPerson: IsPerson | null };

const PREFIX = '\xff\xff\xff\xff';
const QUAKE3: Dialect = { question: 'getstatus\0', answer: 'statusResponse\n', isPerson: notABot(1) };
/** The dialect of each protocol. A protocol without an entry uses that of Quake 3. */
const DIALECTS: Record<string, Dialect> = {
  hexen2: { question: '\xffstatus\n\0', answer: '\xffn', isPerson: notABot(3) },
  quake1: { question: 'status\0', answer: 'n', isPerson: notABot(3) },
  quake2: { question: 'status\0', answer: 'print\n', isPerson: notABot(1) },
};
const INFO: Dialect = { question: 'getinfo xxx\0', answer: 'infoResponse\n', isPerson: null };

/** Queries a server with a Quake engine for its status: its settings, and a line for each client. */
export const askQuake: OwnProtocol = async ({ game }, connections) => {
  const dialect = DIALECTS[game.protocol] ?? QUAKE3;
  const status = await askStatus(dialect, connections);
  // id's Quake 2 does not list bots as clients. Clients on the server's own machine have the ping 0, so they count too.
  const isPerson = game.id === 'quake2' ? isClient : dialect.isPerson;
  const said = statusSaid(status, textFormatOf(game), isPerson);
  const isUnclear = peopleStated(status) === null && !status.clients.every(notABot(1));
  if (dialect !== QUAKE3 || !isUnclear) return said;
  // Clients without a ping may be people. ioquake3 counts people in `g_humanplayers`, but not those on reserved slots.
  const info = await optional(askStatus(INFO, connections, OPTIONAL_MS));
  const people = countOf(info?.settings.get('g_humanplayers')) ?? 0;
  return { ...said, players: Math.max(Number(said.players), people) };
};

/** Queries a FiveM or RedM server. Only `/info.json` has the version, and many servers do not serve that file. */
export const askFivem: OwnProtocol = async ({ server, game }, connections) => {
  const said = statusSaid(await askStatus(INFO, connections), textFormatOf(game), INFO.isPerson);
  const { address, port } = server;
  const info = connections.request({ url: `http://${address}:${port}/info.json`, responseType: 'json' });
  return { ...said, version: fivemVersion(await optional(info)) };
};

function askStatus(
  { question, answer }: Dialect,
  connections: QueryConnections,
  timeoutMs?: number,
): Promise<QuakeStatus> {
  const bytes = Buffer.from(`${PREFIX}${question}`, 'latin1');
  return connections.askDatagram(bytes, (datagram) => readQuakeStatus(datagram, answer), timeoutMs);
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
 * Reads the answer to a question. Returns undefined if the datagram does not begin with `answer`, or has none of the
 * settings `IDENTIFYING`, for example because it is only a header.
 */
export function readQuakeStatus(datagram: Buffer, answer: string): QuakeStatus | undefined {
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

/**
 * The name, version and numbers of players of a status; exported for its test.
 *
 * @param isPerson - finds the people among the lines of clients; null if the answer has no such lines
 */
export function statusSaid(
  status: QuakeStatus,
  format: TextFormat,
  isPerson: IsPerson | null,
): UncheckedAnswer {
  const setting = (...names: string[]) => names.map((name) => status.settings.get(name)).find(Boolean);
  const text = (value = '') => decodeText(Buffer.from(value, 'latin1'), format).trim();
  const counted = isPerson ? status.clients.filter(isPerson).length : undefined;
  return {
    name: text(setting('hostname', 'sv_hostname')),
    version: text(setting('*version', 'version')),
    players: peopleStated(status) ?? counted,
    maxPlayers: setting('maxclients', 'sv_maxclients'),
  };
}

/** The number of people according to the settings. DarkPlaces counts bots as clients, so they are subtracted. */
function peopleStated({ settings }: QuakeStatus): number | null {
  const people = countOf(settings.get('g_humanplayers'));
  const all = countOf(settings.get('clients'));
  return people ?? (all === null ? null : peopleAmong(all, countOf(settings.get('bots')) ?? 0));
}

/** Makes a check of a client's line: a bot has the ping 0. `pingAt`: the index of the ping in the line. */
export function notABot(pingAt: number): IsPerson {
  return (line) => Boolean(pingOf(line, pingAt));
}

/** Whether a line is that of a client. Only the lines of clients have a ping. */
const isClient: IsPerson = (line) => !Number.isNaN(pingOf(line, 1));

function pingOf(line: string, pingAt: number): number {
  return Number.parseInt(line.trim().split(/\s+/, pingAt + 1)[pingAt] ?? '', 10);
}
