import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import { discordBuckets } from './discord-buckets.ts';
import {
  type DiscordMessage,
  isWithinLimits,
  messageObject,
  type ShownMessage,
  WEBHOOK_ADDRESS,
  WEBHOOK_ID,
  WEBHOOK_TOKEN,
  webhookObject,
} from './discord-objects.ts';
import { listen } from './fake-http-listener.ts';

/**
 * How Discord answers a request that it would accept. `hang`: no answer; `drip`: a body that never ends; `cut`: it does
 * what was asked and closes the connection.
 */
type Behaviour =
  | { kind: 'accept' | 'hang' | 'drip' | 'cut' }
  | { kind: 'limit'; retryAfter: number; scope?: 'user' | 'shared' | 'global'; code?: number }
  /** The firewall in front of Discord blocks the address. */
  | { kind: 'block'; retryAfter: number }
  | { kind: 'fail'; status: number }
  /** An error answer of Discord itself. */
  | { kind: 'refuse'; status: number; code: number };

export { WEBHOOK_ADDRESS, WEBHOOK_ID, WEBHOOK_TOKEN };

/** The part of Discord's API that webhooks use. It runs until the test ends. */
export type FakeDiscord = {
  /** The value for `DISCORD_API_URL`. */
  url: string;
  /** The address of an existing webhook, as “Copy Webhook URL” in Discord gives it. */
  address: string;
  /** The accepted messages, in order. */
  messages: DiscordMessage[];
  /** What a reader sees. */
  shown: Map<string, ShownMessage>;
  /** The number of received requests. */
  requests: number;
  /** Each answer; status 0 if there was none. */
  answers: { method: string; path: string; status: number; at: Date }[];
  behaviour: Behaviour;
  /** Come before `behaviour`, one for each request that Discord would accept. */
  next: Behaviour[];
  /** Called before it answers a request that it has carried out. */
  onDone: ((method: string) => Promise<void>) | undefined;
  /** False: neither a webhook nor the channel nor the address has a limit. */
  hasLimits: boolean;
  /**
   * The kind of the webhook's channel. A forum accepts a message only for an existing post, or with the name of a new
   * one.
   */
  channel: 'text' | 'forum';
  /** The threads of the channel, or the posts of the forum: open or locked. */
  threads: Map<string, 'open' | 'locked'>;
  /** For each accepted message, its thread; null for the channel itself. */
  postedTo: (string | null)[];
  /** Deletes the webhook, as the owner of the channel can. */
  deleteWebhook(): void;
  /** As a moderator of the channel can. */
  deleteMessage(id: string): void;
};

/**
 * Answers as Discord's API v10 does (docs.discord.com: "Webhook Resource", "Rate Limits", "Opcodes and Status Codes"):
 * its limits of requests with their headers, 429 with `retry_after`, and its errors. The whole of a path is checked, so
 * that a request to another resource fails.
 *
 * @param now - the clock of its limits and messages
 */
export async function startFakeDiscord({ now = () => new Date() } = {}): Promise<FakeDiscord> {
  let exists = true;
  const discord: FakeDiscord = {
    url: '',
    address: WEBHOOK_ADDRESS,
    messages: [],
    shown: new Map(),
    requests: 0,
    answers: [],
    behaviour: { kind: 'accept' },
    next: [],
    onDone: undefined,
    hasLimits: true,
    channel: 'text',
    threads: new Map(),
    postedTo: [],
    deleteWebhook: () => {
      exists = false;
    },
    deleteMessage: (id) => void discord.shown.delete(id),
  };
  const take = discordBuckets(now);
  const server = http.createServer(async (request, response) => {
    discord.requests += 1;
    const { method = '', url = '' } = request;
    response.on('close', () =>
      discord.answers.push({
        method,
        path: url,
        status: response.writableFinished ? response.statusCode : 0,
        at: now(),
      }),
    );
    const asked = askedFor(method, url, await bodyOf(request));
    if (!asked) return json(response, 404, { message: '404: Not Found', code: 0 });
    const { limited, headers } = discord.hasLimits ? take(asked.webhookId) : { headers: {} };
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
    if (limited) return json(response, 429, limited);
    if (!exists || asked.webhookId !== WEBHOOK_ID) return json(response, 404, ERRORS.unknownWebhook);
    if (asked.token !== WEBHOOK_TOKEN) return json(response, 401, ERRORS.invalidToken);
    return answerOf(discord, asked, response, now());
  });
  discord.url = `http://127.0.0.1:${await listen(server)}/api`;
  return discord;
}

const ERRORS = {
  unknownWebhook: { message: 'Unknown Webhook', code: 10_015 },
  unknownMessage: { message: 'Unknown Message', code: 10_008 },
  unknownChannel: { message: 'Unknown Channel', code: 10_003 },
  invalidToken: { message: 'Invalid Webhook Token', code: 50_027 },
  invalidForm: { message: 'Invalid Form Body', code: 50_035 },
  emptyMessage: { message: 'Cannot send an empty message', code: 50_006 },
  archived: { message: 'Thread is archived', code: 50_083 },
  needsThread: {
    message: 'Webhooks posted to forum channels must have a thread_name or thread_id',
    code: 220_001,
  },
  noForum: { message: 'Webhooks can only create threads in forum channels', code: 220_003 },
};

type Asked = {
  method: string;
  url: string;
  webhookId: string;
  token: string;
  messageId: string | undefined;
  threadId: string | null;
  waits: boolean;
  message: DiscordMessage;
};

/** Null for an unknown path or method. */
function askedFor(method: string, url: string, body: string): Asked | null {
  const { pathname, searchParams } = new URL(url, 'http://discord');
  const [, webhookId, token, messageId] =
    /^\/api\/webhooks\/(\d+)\/([^/]+)(?:\/messages\/(\d+))?$/.exec(pathname) ?? [];
  const methods = messageId ? ['GET', 'PATCH', 'DELETE'] : ['GET', 'POST'];
  if (!webhookId || !token || !methods.includes(method)) return null;
  const [threadId, waits] = [searchParams.get('thread_id'), searchParams.get('wait') === 'true'];
  const message = body ? (JSON.parse(body) as DiscordMessage) : {};
  return { method, url, webhookId, token, messageId, threadId, waits, message };
}

async function answerOf(
  discord: FakeDiscord,
  asked: Asked,
  response: ServerResponse,
  at: Date,
): Promise<void> {
  const { method, messageId, message } = asked;
  if (method === 'GET' && !messageId) return json(response, 200, webhookObject());
  const refused = refusalOf(discord, asked);
  if (refused) return json(response, refused.status, refused.error);
  const behaviour = discord.next.shift() ?? discord.behaviour;
  if (behaviour.kind !== 'accept' && behaviour.kind !== 'cut') return behave(behaviour, asked, response);
  const done = carryOut(discord, asked, at);
  await discord.onDone?.(method);
  if (behaviour.kind === 'cut') {
    response.destroy();
    return;
  }
  if (method === 'DELETE' || (method === 'POST' && !asked.waits)) {
    response.writeHead(204).end();
    return;
  }
  json(response, 200, messageObject(done ?? { id: '', threadId: null, at, edits: [], ...message }));
}

/** Null if Discord does what was asked. */
function refusalOf(discord: FakeDiscord, asked: Asked): { status: number; error: object } | null {
  const { method, messageId, threadId, message } = asked;
  if (threadId !== null && !/^\d{15,21}$/.test(threadId)) return { status: 400, error: ERRORS.invalidForm };
  const thread = threadId === null ? null : (discord.threads.get(threadId) ?? 'unknown');
  if (thread === 'unknown') return { status: 404, error: ERRORS.unknownChannel };
  if (messageId) {
    const found = discord.shown.get(messageId);
    if (!found || found.threadId !== threadId) return { status: 404, error: ERRORS.unknownMessage };
  }
  if (thread === 'locked' && method !== 'GET') return { status: 400, error: ERRORS.archived };
  if (method === 'POST' && thread === null) {
    if (discord.channel === 'forum' && !message.thread_name)
      return { status: 400, error: ERRORS.needsThread };
    if (discord.channel === 'text' && message.thread_name) return { status: 400, error: ERRORS.noForum };
  }
  if (method !== 'POST' && method !== 'PATCH') return null;
  if (!isWithinLimits(message)) return { status: 400, error: ERRORS.invalidForm };
  const isEmpty = !message.content && !message.embeds?.length;
  return isEmpty ? { status: 400, error: ERRORS.emptyMessage } : null;
}

let lastId = 1_200_000_000_000_000_000n;

function carryOut(
  discord: FakeDiscord,
  { method, messageId = '', threadId, message }: Asked,
  at: Date,
): ShownMessage | undefined {
  const found = discord.shown.get(messageId);
  if (method === 'DELETE') discord.shown.delete(messageId);
  if (found && method === 'PATCH') {
    Object.assign(found, message);
    found.edits.push(at);
  }
  if (method !== 'POST') return found;
  lastId += 4_194_304n;
  const shown = { ...message, id: String(lastId), threadId, at, edits: [] };
  discord.messages.push(message);
  discord.postedTo.push(threadId);
  discord.shown.set(shown.id, shown);
  return shown;
}

type Failing = Exclude<Behaviour, { kind: 'accept' | 'cut' }> | { kind: 'hang' | 'drip' };

function behave(behaviour: Failing, { method, url }: Asked, response: ServerResponse): void {
  switch (behaviour.kind) {
    case 'hang':
      return;
    case 'drip': {
      response.writeHead(503, { 'content-type': 'application/json' });
      const drip = setInterval(() => response.write(' '), 20);
      response.on('close', () => clearInterval(drip));
      return;
    }
    case 'limit': {
      const { retryAfter, scope = 'shared', code } = behaviour;
      const isGlobal = scope === 'global';
      const headers = {
        'retry-after': String(Math.ceil(retryAfter)),
        'x-ratelimit-scope': scope,
        ...(isGlobal ? { 'x-ratelimit-global': 'true' } : {}),
      };
      const text = { message: 'You are being rate limited.', retry_after: retryAfter, global: isGlobal };
      json(response, 429, { ...text, ...(code ? { code } : {}) }, headers);
      return;
    }
    case 'block':
      response
        .writeHead(429, { 'content-type': 'text/html', 'retry-after': String(behaviour.retryAfter) })
        .end(
          '<title>Access denied | discord.com used Cloudflare to restrict access</title> error code: 1015',
        );
      return;
    case 'refuse':
      json(response, behaviour.status, { message: 'Refused', code: behaviour.code });
      return;
    case 'fail':
      // The error page of a proxy.
      response.writeHead(behaviour.status).end(`upstream connect error: ${method} ${url}`);
  }
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece);
  return Buffer.concat(pieces).toString('utf8');
}

function json(response: ServerResponse, status: number, body: object, headers = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}
