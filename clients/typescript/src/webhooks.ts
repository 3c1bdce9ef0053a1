/** The headers of a request: `Headers`, or an object such as Node's `IncomingMessage.headers`. */
export type WebhookHeaders = Headers | Record<string, string | string[] | undefined>;

/** A vote that the listing forwards. The listing may send the same `vote_id` again: reward it once. */
export type ForwardedVote = { vote_id: string; server_id: string; username: string; voted_at: string };

/** A verified message. */
export type WebhookMessage =
  | { type: 'vote.cast'; vote: ForwardedVote }
  /** A test vote: the owner pressed "Test" in the dashboard, no player voted. */
  | { type: 'vote.test'; vote: ForwardedVote }
  /** The listing checks that the address is yours. Answer `{"challenge": challenge}`. */
  | { type: 'listener.challenge'; challenge: string }
  /** A message type that a later version of the listing has added. */
  | { type: 'unknown'; message: unknown };

/** The message is not from the listing, or it is too old. */
export class WebhookError extends Error {
  override readonly name = 'WebhookError';
}

/** More signatures than this are not checked. The listing sends one, or two while a secret is rotated. */
const MOST_SIGNATURES = 8;
const TOLERANCE_SECONDS = 300;
/** The player name of a test vote. */
const TEST_USERNAME = 'TallyportTest';
const MOST_BYTES = 65_536;

const bytesOf = (text: string) => new TextEncoder().encode(text);

/**
 * Verifies a message (Standard Webhooks: HMAC-SHA256 over id, timestamp and body).
 *
 * @param secret - the secret that the dashboard shows, `whsec_…`; several of them while you change it
 * @param body - the body exactly as received: do not parse and serialize it
 * @throws {WebhookError} when no signature is valid, or the message is more than 5 minutes old or in the future;
 * {TypeError} when the secret is invalid
 */
export async function verifyWebhook(
  secret: string | string[],
  headers: WebhookHeaders,
  body: string | Uint8Array,
  { tolerance_seconds = TOLERANCE_SECONDS }: { tolerance_seconds?: number } = {},
): Promise<WebhookMessage> {
  const secrets = [secret].flat().map(secretBytes);
  const [id, timestamp, signature] = ['id', 'timestamp', 'signature'].map((name) =>
    header(headers, `webhook-${name}`),
  ) as [string, string, string];
  if (!id || !signature || !/^\d{1,12}$/.test(timestamp))
    throw new WebhookError('The message has no signature.');
  const age = Date.now() / 1_000 - Number(timestamp);
  if (Math.abs(age) > tolerance_seconds)
    throw new WebhookError('The message is too old, or a clock is wrong.');
  const content = typeof body === 'string' ? bytesOf(body) : body;
  if (content.length > MOST_BYTES) throw new WebhookError('The message is too large.');
  const signed = join(bytesOf(`${id}.${timestamp}.`), content);
  if (!(await isSigned(secrets, signature, signed))) throw new WebhookError('The signature is wrong.');
  return messageIn(new TextDecoder().decode(content));
}

/**
 * Handles a message of the listing: verifies it, answers a challenge, and passes a vote to `onVote`. A test vote is
 * acknowledged and not passed to `onVote`.
 *
 * @returns the status and the body to send; 401 if the message is not valid
 * @throws what `onVote` throws: then answer 500, and the listing sends the vote again
 */
export async function receiveWebhook(
  secret: string | string[],
  { headers, body }: { headers: WebhookHeaders; body: string | Uint8Array },
  onVote: (vote: ForwardedVote) => unknown,
): Promise<{ status: number; body: string }> {
  let message: WebhookMessage;
  try {
    message = await verifyWebhook(secret, headers, body);
  } catch (error) {
    if (error instanceof WebhookError) return { status: 401, body: error.message };
    throw error;
  }
  if (message.type === 'listener.challenge')
    return { status: 200, body: JSON.stringify({ challenge: message.challenge }) };
  if (message.type === 'vote.cast') await onVote(message.vote);
  return { status: 200, body: '' };
}

/** The value of a header. A header that occurs twice counts as absent. */
function header(headers: WebhookHeaders, name: string): string {
  const value = headers instanceof Headers ? headers.get(name) : headers[name];
  return typeof value === 'string' ? value : '';
}

/**
 * Whether one of the signatures `v1,<base64>` was made with one of the secrets. WebCrypto compares in constant time.
 */
async function isSigned(
  secrets: Uint8Array<ArrayBuffer>[],
  header: string,
  content: Uint8Array<ArrayBuffer>,
): Promise<boolean> {
  const signatures = header
    .split(' ', MOST_SIGNATURES)
    .filter((one) => one.startsWith('v1,'))
    .map((one) => fromBase64(one.slice(3)));
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  const results: boolean[] = [];
  for (const bytes of secrets) {
    const key = await crypto.subtle.importKey('raw', bytes, algorithm, false, ['verify']);
    for (const signature of signatures)
      if (signature) results.push(await crypto.subtle.verify('HMAC', key, signature, content));
  }
  return results.includes(true);
}

function secretBytes(secret: string): Uint8Array<ArrayBuffer> {
  const bytes = typeof secret === 'string' ? fromBase64(secret.replace(/^whsec_/, '')) : null;
  if (bytes && bytes.length >= 16) return bytes;
  const is = secret ? 'is not one' : 'is empty';
  throw new TypeError(`The secret of the webhook ${is}: give it as the dashboard shows it, whsec_…`);
}

function messageIn(text: string): WebhookMessage {
  let message: { type?: unknown; data?: Record<string, string> };
  try {
    message = JSON.parse(text);
  } catch {
    throw new WebhookError('The message is not JSON.');
  }
  const { type, data = {} } = message ?? {};
  const { challenge, vote_id, server_id = '', username = '', voted_at = '' } = data;
  if (type === 'listener.challenge' && challenge) return { type, challenge };
  if (type !== 'vote.cast' || !vote_id) return { type: 'unknown', message };
  const vote = { vote_id, server_id, username, voted_at };
  return { type: username === TEST_USERNAME ? 'vote.test' : type, vote };
}

function join(first: Uint8Array, second: Uint8Array): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(first.length + second.length);
  whole.set(first);
  whole.set(second, first.length);
  return whole;
}

function fromBase64(text: string): Uint8Array<ArrayBuffer> | null {
  try {
    return Uint8Array.from(atob(text), (one) => one.charCodeAt(0));
  } catch {
    return null;
  }
}
