import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import { listen } from './fake-http-listener.ts';

/** A message that a webhook has accepted. */
export type DiscordMessage = {
  content?: string;
  thread_name?: string;
  embeds?: { title?: string; description?: string; url?: string; color?: number }[];
  allowed_mentions?: { parse: string[] };
};

/**
 * How Discord answers for an existing webhook. `hang`: no answer; `drip`: a body that never ends; `cut`: it accepts the
 * message and closes the connection.
 */
type Behaviour =
  | { kind: 'accept' | 'hang' | 'drip' | 'cut' }
  | { kind: 'limit'; retryAfter: number }
  | { kind: 'fail'; status: number }
  /** An error answer of Discord itself. */
  | { kind: 'refuse'; status: number; code: number };

/** The part of Discord's API that webhooks use. It runs until the test ends. */
export type FakeDiscord = {
  /** The value for `DISCORD_API_URL`. */
  url: string;
  /** The address of an existing webhook, as “Copy Webhook URL” in Discord gives it. */
  address: string;
  /** The accepted messages, in order. */
  messages: DiscordMessage[];
  /** The number of received requests. */
  requests: number;
  behaviour: Behaviour;
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
};

export const WEBHOOK_ID = '1099999999999991234';
export const WEBHOOK_TOKEN = `to-ken_${'Ab3'.repeat(20)}z`;
export const WEBHOOK_ADDRESS = `https://discord.com/api/webhooks/${WEBHOOK_ID}/${WEBHOOK_TOKEN}`;

/**
 * Answers as Discord's API v10 does: 204 for a message, 404 with code 10015 for an unknown webhook, 401 with code 50027
 * for a wrong token, 400 with code 50035 for a message above its limits, 429 with `retry_after`. A forum channel answers 400
 * with 220001 to a message for no thread, a text channel 220003 to one that names a new thread; an unknown thread is 404
 * with 10003, a locked one 400 with 50083 (docs.discord.com, "Opcodes and Status Codes").
 */
export async function startFakeDiscord(): Promise<FakeDiscord> {
  let exists = true;
  const discord: FakeDiscord = {
    url: '',
    address: WEBHOOK_ADDRESS,
    messages: [],
    requests: 0,
    behaviour: { kind: 'accept' },
    channel: 'text',
    threads: new Map(),
    postedTo: [],
    deleteWebhook: () => {
      exists = false;
    },
  };
  const server = http.createServer(async (request, response) => {
    discord.requests += 1;
    const body = await bodyOf(request);
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://discord');
    const [, id, token] = /^\/api\/webhooks\/(\d+)\/([^/]+)$/.exec(pathname) ?? [];
    if (request.method !== 'POST' || !id) return json(response, 404, { message: '404: Not Found', code: 0 });
    if (!exists || id !== WEBHOOK_ID)
      return json(response, 404, { message: 'Unknown Webhook', code: 10_015 });
    if (token !== WEBHOOK_TOKEN)
      return json(response, 401, { message: 'Invalid Webhook Token', code: 50_027 });
    const message = JSON.parse(body) as DiscordMessage;
    if (!isWithinLimits(message)) return json(response, 400, { message: 'Invalid Form Body', code: 50_035 });
    const threadId = searchParams.get('thread_id');
    const refused = refusedThread(discord, threadId, message);
    if (refused) return json(response, refused.status, { message: refused.message, code: refused.code });
    if (discord.behaviour.kind === 'accept') discord.postedTo.push(threadId);
    return behave(discord, response, { message, path: request.url ?? '' });
  });
  discord.url = `http://127.0.0.1:${await listen(server)}/api`;
  return discord;
}

/** The refusal of a message because of its thread; null if it is accepted. */
function refusedThread(
  { channel, threads }: FakeDiscord,
  threadId: string | null,
  message: DiscordMessage,
): { status: number; message: string; code: number } | null {
  if (threadId !== null && !/^\d{15,21}$/.test(threadId))
    return { status: 400, message: 'Invalid Form Body', code: 50_035 };
  if (threadId !== null) {
    const state = threads.get(threadId);
    if (!state) return { status: 404, message: 'Unknown Channel', code: 10_003 };
    return state === 'locked' ? { status: 400, message: 'Thread is archived', code: 50_083 } : null;
  }
  if (channel === 'forum' && !message.thread_name) {
    const text = 'Webhooks posted to forum channels must have a thread_name or thread_id';
    return { status: 400, message: text, code: 220_001 };
  }
  if (channel === 'text' && message.thread_name)
    return { status: 400, message: 'Webhooks can only create threads in forum channels', code: 220_003 };
  return null;
}

function behave(
  discord: FakeDiscord,
  response: ServerResponse,
  { message, path }: { message: DiscordMessage; path: string },
): void {
  const { behaviour } = discord;
  switch (behaviour.kind) {
    case 'accept':
      discord.messages.push(message);
      response.writeHead(204).end();
      return;
    case 'hang':
      return;
    case 'cut':
      discord.messages.push(message);
      response.destroy();
      return;
    case 'drip': {
      response.writeHead(503, { 'content-type': 'application/json' });
      const drip = setInterval(() => response.write(' '), 20);
      response.on('close', () => clearInterval(drip));
      return;
    }
    case 'limit': {
      const { retryAfter } = behaviour;
      const headers = { 'retry-after': String(Math.ceil(retryAfter)), 'x-ratelimit-scope': 'shared' };
      const text = { message: 'You are being rate limited.', retry_after: retryAfter, global: false };
      json(response, 429, text, headers);
      return;
    }
    case 'refuse':
      json(response, behaviour.status, { message: 'Refused', code: behaviour.code });
      return;
    case 'fail':
      // The error page of a proxy.
      response.writeHead(behaviour.status).end(`upstream connect error: POST ${path}`);
  }
}

function isWithinLimits({ content = '', embeds = [] }: DiscordMessage): boolean {
  const texts = embeds.map(({ title = '', description = '' }) => [title, description] as const);
  const total = texts.flat().reduce((sum, text) => sum + text.length, 0);
  const fits = texts.every(([title, description]) => title.length <= 256 && description.length <= 4_096);
  return fits && total <= 6_000 && content.length <= 2_000 && (content !== '' || embeds.length > 0);
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece);
  return Buffer.concat(pieces).toString('utf8');
}

function json(response: ServerResponse, status: number, body: object, headers = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}
