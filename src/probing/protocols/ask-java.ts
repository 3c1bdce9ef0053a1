import type { Asked, OwnProtocol } from '../own-protocol.ts';
import type { QueryConnections } from '../query-connections.ts';
import { outgoingLimited, QueryError } from '../query-error.ts';
import type { TcpConnection } from '../tcp-connection.ts';
import { readMinecraftStatus, statusRequest } from './minecraft-java.ts';
import { isKick, KickedError, type LegacyAnswer, legacyPings, readKick } from './minecraft-legacy.ts';

/**
 * After this silence the next form is sent too, on a connection of its own. A round trip around the world takes 0.3 s.
 */
const SILENCE_MS = 500;

/** If so many take longer than `SILENCE_MS`, the next form is sent after them. */
const ROUND_TRIPS = 3;

/** A form of the question, with the reader of its answer. */
type Form = { request: Buffer; read(received: Buffer): LegacyAnswer | undefined };

/** One form of the question on a connection of its own. */
class Attempt {
  readonly isStatus: boolean;
  readonly answer: Promise<LegacyAnswer>;
  answered: LegacyAnswer | undefined;
  error: unknown;
  readonly opened: Promise<TcpConnection>;
  #connection: TcpConnection | undefined;

  constructor(connections: QueryConnections, form: Form, isStatus: boolean) {
    this.isStatus = isStatus;
    this.opened = connections.connect();
    this.answer = this.#exchange(form);
    this.answer.catch(() => {});
  }

  async #exchange({ request, read }: Form): Promise<LegacyAnswer> {
    try {
      this.#connection = await this.opened;
      this.answered = await this.#connection.exchange(request, read);
      return this.answered;
    } catch (error) {
      this.error = error;
      throw error;
    }
  }

  get hasReceived(): boolean {
    return this.#connection?.hasReceived ?? false;
  }

  /** No better answer can come. A modern server's status is better than its answer to a list ping. */
  get isFinal(): boolean {
    return this.answered !== undefined && (this.isStatus || !this.answered.isModern);
  }

  /** An old server closes the connection or sends a kick after a status request; others do so after a list ping. */
  get isRefused(): boolean {
    if (this.error instanceof KickedError) return true;
    if (!(this.error instanceof QueryError)) return false;
    const { code } = this.error;
    return this.isStatus ? code === 'closed' && !this.hasReceived : REFUSALS.has(code);
  }

  /** It accepted the connection, but did not answer like a modern server. */
  get seemsOld(): boolean {
    const isSilent = this.#connection !== undefined && !this.hasReceived;
    return isSilent || this.error instanceof KickedError;
  }
}

const REFUSALS: ReadonlySet<string> = new Set(['closed', 'answer-broken']);

/**
 * The status request of 1.7, then the list pings of older versions; the newest list ping is first for `oldServers`.
 * After a close by a server that an SRV record names, the status request is repeated with the name that players type: a
 * proxy may know only one. The first answer counts; one of a modern server to a list ping only if its status does not
 * come.
 */
export const askJava: OwnProtocol = async (asked, connections) => {
  const { where } = asked.server;
  const { oldServers } = asked;
  const attempts: Attempt[] = [];
  const isLimited = await attemptInOrder(asked, connections, attempts);
  try {
    const { said, isModern } = await firstAnswer(attempts);
    if (isModern) oldServers.delete(where);
    else oldServers.add(where);
    return said;
  } catch (error) {
    if (attempts.some(({ seemsOld }) => seemsOld)) oldServers.add(where);
    if (isLimited) throw outgoingLimited();
    throw (attempts.find(({ isStatus }) => isStatus) ?? attempts[0])?.error ?? error;
  }
};

/** Each form when the earlier ones were refused or are not answered. Returns whether connections are limited. */
async function attemptInOrder(
  { server, target, oldServers, mayConnect }: Asked,
  connections: QueryConnections,
  attempts: Attempt[],
): Promise<boolean> {
  const { host, port, address, where } = server;
  const status: Form = { request: statusRequest(host, port), read: readModern };
  const [newest, ...shorter] = legacyPings(host, port).map((request) => ({ request, read: readKick }));
  const forms = [status, ...shorter];
  if (newest) forms.splice(oldServers.has(where) ? 0 : 1, 0, newest);
  const typed: Form = { request: statusRequest(target.host, port), read: readModern };
  if (target.host !== host) forms.splice(forms.indexOf(status) + 1, 0, typed);
  for (const form of forms) {
    // Of a modern server, only the status is asked.
    if (form !== status && attempts.some(({ answered }) => answered?.isModern)) continue;
    if (form === typed && !attempts.some(({ isStatus, isRefused }) => isStatus && isRefused)) continue;
    if (attempts.length > 0 && mayConnect && !(await mayConnect(address))) return true;
    const attempt = new Attempt(connections, form, form === status || form === typed);
    attempts.push(attempt);
    if (!(await isNextDue(attempts, attempt))) break;
  }
  return false;
}

/** An old server sends a kick, which may contain an answer to a list ping. */
function readModern(received: Buffer): LegacyAnswer | undefined {
  if (isKick(received)) return readKick(received);
  const said = readMinecraftStatus(received);
  return said && { said, isModern: true };
}

/** After an answer, a failure of the newest attempt, or silence. */
async function isNextDue(attempts: Attempt[], newest: Attempt): Promise<boolean> {
  const { promise: silence, cancel } = silenceAfter(newest);
  const answer = Promise.any(attempts.map(({ answer }) => answer));
  await Promise.race([answer, newest.answer, silence]).catch(() => {});
  cancel();
  if (attempts.some(({ answered }) => answered)) {
    return !attempts.some(({ isFinal, isStatus }) => isFinal || isStatus);
  }
  // An answer to an earlier form is arriving in pieces.
  if (attempts.some(({ error, hasReceived }) => error === undefined && hasReceived)) return false;
  return newest.error === undefined || newest.isRefused;
}

/** When the connection has been open for longer than an answer usually takes. */
function silenceAfter({ opened }: Attempt): { promise: Promise<void>; cancel(): void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  let timer: NodeJS.Timeout | undefined;
  let isOver = false;
  const wait = async () => {
    const { roundTripMs } = await opened;
    if (!isOver) timer = setTimeout(resolve, Math.max(SILENCE_MS, ROUND_TRIPS * (roundTripMs ?? 0)));
  };
  wait().catch(() => {});
  const cancel = () => {
    isOver = true;
    clearTimeout(timer);
  };
  return { promise, cancel };
}

/** A modern server's answer to a list ping counts only without a status. */
function firstAnswer(attempts: Attempt[]): Promise<LegacyAnswer> {
  const status = attempts.find(({ isStatus }) => isStatus);
  const answers = attempts.map(async (attempt) => {
    const answer = await attempt.answer;
    return attempt.isFinal || !status ? answer : status.answer.catch(() => answer);
  });
  return Promise.any(answers);
}
