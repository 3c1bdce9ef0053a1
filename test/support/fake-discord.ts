import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import { listen } from './fake-http-listener.ts';

/** A message that a webhook accepted. */
export type DiscordMessage = {
  content?: string;
  embeds?: { title?: string; description?: string; url?: string; color?: number }[];
  allowed_mentions?: { parse: string[] };
};

/** How it answers a known webhook. `hang`: never; `drip`: a body that never ends; `cut`: it takes it and closes. */
type Behaviour =
  | { kind: 'accept' | 'hang' | 'drip' | 'cut' }
  | { kind: 'limit'; retryAfter: number }
  | { kind: 'fail'; status: number };

/** The part of Discord that webhooks use, until the test ends. */
export type FakeDiscord = {
  /** For `DISCORD_API_URL`. */
  url: string;
  /** The address of a webhook that exists, as «Copy Webhook URL» gives it. */
  address: string;
  /** The accepted messages, in order. */
  messages: DiscordMessage[];
  /** How many requests reached it. */
  requests: number;
  behaviour: Behaviour;
  /** The owner of the channel deletes the webhook. */
  deleteWebhook(): void;
};

export const WEBHOOK_ID = '1099999999999991234';
export const WEBHOOK_TOKEN = `to-ken_${'Ab3'.repeat(20)}z`;
export const WEBHOOK_ADDRESS = `https://discord.com/api/webhooks/${WEBHOOK_ID}/${WEBHOOK_TOKEN}`;

/**
 * Answers as Discord's API v10 does: 204 for a message, 404 with code 10015 for an unknown webhook, 401 with code 50027
 * for a wrong token, 400 with code 50035 for a message above its limits, 429 with `retry_after`.
 */
export async function startFakeDiscord(): Promise<FakeDiscord> {
  let exists = true;
  const discord: FakeDiscord = {
    url: '',
    address: WEBHOOK_ADDRESS,
    messages: [],
    requests: 0,
    behaviour: { kind: 'accept' },
    deleteWebhook: () => {
      exists = false;
    },
  };
  const server = http.createServer(async (request, response) => {
    discord.requests += 1;
    const body = await bodyOf(request);
    const [, id, token] = /^\/api\/webhooks\/(\d+)\/([^/?]+)$/.exec(request.url ?? '') ?? [];
    if (request.method !== 'POST' || !id) return json(response, 404, { message: '404: Not Found', code: 0 });
    if (!exists || id !== WEBHOOK_ID)
      return json(response, 404, { message: 'Unknown Webhook', code: 10_015 });
    if (token !== WEBHOOK_TOKEN)
      return json(response, 401, { message: 'Invalid Webhook Token', code: 50_027 });
    const message = JSON.parse(body) as DiscordMessage;
    if (!isWithinLimits(message)) return json(response, 400, { message: 'Invalid Form Body', code: 50_035 });
    return behave(discord, response, { message, path: request.url ?? '' });
  });
  discord.url = `http://127.0.0.1:${await listen(server)}/api`;
  return discord;
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
    case 'fail':
      // As error pages of proxies do.
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
