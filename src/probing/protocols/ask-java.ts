import type { Asked, OwnProtocol } from '../own-protocol.ts';
import type { QueryConnections } from '../query-connections.ts';
import { outgoingLimited, QueryError } from '../query-error.ts';
import type { TcpConnection } from '../tcp-connection.ts';
import { readMinecraftStatus, statusRequest } from './minecraft-java.ts';
import { isKick, KickedError, type LegacyAnswer, legacyPings, readKick } from './minecraft-legacy.ts';

/**
 * If a server sends nothing for this long after a request, the next form of the question is sent too. The earlier
 * connections stay open, so a slower server can still answer on them. A round trip around the world takes 0.3 s.
 */
const SILENCE_MS = 500;

/** If this many round trips take longer than `SILENCE_MS`, the next form is sent after them instead. */
const ROUND_TRIPS = 3;

/** A form of the question, and the function that reads its answer. */
type Form = { request: Buffer; read(received: Buffer): LegacyAnswer | undefined };

/** A form of the question that was sent on its own connection. */
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

  /** Whether no better answer can come. If a modern server answered a list ping, its status would be better. */
  get isFinal(): boolean {
    return this.answered !== undefined && (this.isStatus || !this.answered.isModern);
  }

  /**
   * Whether the server refused this form. An old server that gets a status request closes the connection or sends a
   * kick; other servers do so after a list ping.
   */
  get isRefused(): boolean {
    if (this.error instanceof KickedError) return true;
    if (!(this.error instanceof QueryError)) return false;
    const { code } = this.error;
    return this.isStatus ? code === 'closed' && !this.hasReceived : REFUSALS.has(code);
  }

  /** Whether the server accepted the connection, but did not answer like a modern server. */
  get seemsOld(): boolean {
    const isSilent = this.#connection !== undefined && !this.hasReceived;
    return isSilent || this.error instanceof KickedError;
  }
}

const REFUSALS: ReadonlySet<string> = new Set(['closed', 'answer-broken']);

/**
 * Queries a Minecraft Java server: first with the status request of 1.7, then with the list pings of older versions,
 * each on its own connection. If a server that an SRV record names closes the connection, the status request is repeated
 * with the name that players type: clients ping with one name and join with the other, and a proxy may know only one. A server in `oldServers` gets the newest list ping first. The first answer counts.
 * Servers since 1.7 also answer list pings, but with less information: such an answer counts only if the status does
 * not come.
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

/**
 * Sends the forms one after the other, each when the earlier ones were refused or are not answered.
 *
 * @returns whether a form was not sent because connections are limited
 */
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
    // If an answer says that the server is modern, the next form is the status request.
    if (form !== status && attempts.some(({ answered }) => answered?.isModern)) continue;
    if (form === typed && !attempts.some(({ isStatus, isRefused }) => isStatus && isRefused)) continue;
    if (attempts.length > 0 && mayConnect && !(await mayConnect(address))) return true;
    const attempt = new Attempt(connections, form, form === status || form === typed);
    attempts.push(attempt);
    if (!(await isNextDue(attempts, attempt))) break;
  }
  return false;
}

/** Reads the answer to a status request. An old server sends a kick, which may contain an answer to a list ping. */
function readModern(received: Buffer): LegacyAnswer | undefined {
  if (isKick(received)) return readKick(received);
  const said = readMinecraftStatus(received);
  return said && { said, isModern: true };
}

/** Waits for an answer, a failure of the newest attempt, or silence. Returns whether the next form must be sent. */
async function isNextDue(attempts: Attempt[], newest: Attempt): Promise<boolean> {
  const { promise: silence, cancel } = silenceAfter(newest);
  const answer = Promise.any(attempts.map(({ answer }) => answer));
  await Promise.race([answer, newest.answer, silence]).catch(() => {});
  cancel();
  if (attempts.some(({ answered }) => answered)) {
    return !attempts.some(({ isFinal, isStatus }) => isFinal || isStatus);
  }
  // If an answer to an earlier form is arriving in pieces, no other form is sent.
  if (attempts.some(({ error, hasReceived }) => error === undefined && hasReceived)) return false;
  return newest.error === undefined || newest.isRefused;
}

/** The promise resolves when the connection has been open for longer than an answer usually takes. */
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

/** The first answer. A modern server's answer to a list ping counts only if the server returns no status. */
function firstAnswer(attempts: Attempt[]): Promise<LegacyAnswer> {
  const status = attempts.find(({ isStatus }) => isStatus);
  const answers = attempts.map(async (attempt) => {
    const answer = await attempt.answer;
    return attempt.isFinal || !status ? answer : status.answer.catch(() => answer);
  });
  return Promise.any(answers);
}
