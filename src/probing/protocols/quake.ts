import { decodeText, type TextFormat, textFormatOf } from '../../games/text-formats.ts';
import { OPTIONAL_MS, optional } from '../optional-question.ts';
import type { OwnProtocol } from '../own-protocol.ts';
import type { QueryConnections } from '../query-connections.ts';
import { countOf, peopleAmong, type UncheckedAnswer } from '../read-answer.ts';

/** Not a bot. `line`: of a client in the server's status. */
type IsPerson = (line: string) => boolean;

/** `answer`: its beginning, as Latin-1. `isPerson` is null if it lists no clients. */
type Dialect = { question: string; answer: string; isPerson: IsPerson | null };

const PREFIX = '\xff\xff\xff\xff';
const QUAKE3: Dialect = { question: 'getstatus\0', answer: 'statusResponse\n', isPerson: notABot(1) };
/** By protocol; Quake 3 if absent. */
const DIALECTS: Record<string, Dialect> = {
  hexen2: { question: '\xffstatus\n\0', answer: '\xffn', isPerson: notABot(3) },
  quake1: { question: 'status\0', answer: 'n', isPerson: notABot(3) },
  quake2: { question: 'status\0', answer: 'print\n', isPerson: notABot(1) },
};
const INFO: Dialect = { question: 'getinfo xxx\0', answer: 'infoResponse\n', isPerson: null };

/** The status: settings, and a line for each client. */
export const askQuake: OwnProtocol = async ({ game }, connections) => {
  const dialect = DIALECTS[game.protocol] ?? QUAKE3;
  const status = await askStatus(dialect, connections);
  // id's Quake 2 does not list bots. Clients on the server's own machine have the ping 0.
  const isPerson = game.id === 'quake2' ? isClient : dialect.isPerson;
  const said = statusSaid(status, textFormatOf(game), isPerson);
  const isUnclear = peopleStated(status) === null && !status.clients.every(notABot(1));
  if (dialect !== QUAKE3 || !isUnclear) return said;
  // Clients without a ping may be people; `g_humanplayers` of ioquake3 leaves out those on reserved slots.
  const info = await optional(askStatus(INFO, connections, OPTIONAL_MS));
  const people = countOf(info?.settings.get('g_humanplayers')) ?? 0;
  return { ...said, players: Math.max(Number(said.players), people) };
};

/** FiveM or RedM. Only `/info.json` has the version, and many servers do not serve it. */
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

/** From `server`: `FXServer-master SERVER v1.0.0.7290 win32`. `version` and `iv` are only hashes of the settings. */
export function fivemVersion(info: unknown): string {
  const { server } = Object(info) as { server?: unknown };
  return (
    (typeof server === 'string' && /\bv?\d{1,9}(?:\.\d{1,9}){1,5}\b/.exec(server.slice(0, 300))?.[0]) || ''
  );
}

/** Each server has at least one of these settings. */
const IDENTIFYING = ['hostname', 'sv_hostname', 'maxclients', 'sv_maxclients'];

/** Bytes read as Latin-1. */
export type QuakeStatus = { settings: Map<string, string>; clients: string[] };

/** Undefined if the datagram does not begin with `answer`, or is only a header. */
export function readQuakeStatus(datagram: Buffer, answer: string): QuakeStatus | undefined {
  const text = datagram.toString('latin1');
  const begin = `${PREFIX}${answer}`;
  if (!text.startsWith(begin)) return undefined;
  const [first = '', ...lines] = text.slice(begin.length).split('\n');
  // Some servers leave out the first backslash.
  const words = first.replace(/\0.*$/s, '').replace(/^\\/, '').split('\\');
  const settings = new Map<string, string>();
  for (let index = 0; index + 1 < words.length; index += 2) {
    settings.set(words[index] ?? '', words[index + 1] ?? '');
  }
  if (!IDENTIFYING.some((name) => settings.has(name))) return undefined;
  const end = lines.findIndex((line) => line === '' || line.startsWith('\0'));
  return { settings, clients: end < 0 ? lines : lines.slice(0, end) };
}

/** Exported for its test. `isPerson`: null if the answer has no lines of clients. */
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

/** According to the settings. DarkPlaces counts bots as clients. */
function peopleStated({ settings }: QuakeStatus): number | null {
  const people = countOf(settings.get('g_humanplayers'));
  const all = countOf(settings.get('clients'));
  return people ?? (all === null ? null : peopleAmong(all, countOf(settings.get('bots')) ?? 0));
}

/** A bot has the ping 0. `pingAt`: its index in the line. */
export function notABot(pingAt: number): IsPerson {
  return (line) => Boolean(pingOf(line, pingAt));
}

/** Only the lines of clients have a ping. */
const isClient: IsPerson = (line) => !Number.isNaN(pingOf(line, 1));

function pingOf(line: string, pingAt: number): number {
  return Number.parseInt(line.trim().split(/\s+/, pingAt + 1)[pingAt] ?? '', 10);
}
