import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { z } from 'zod';
import { freePort } from '../../src/own-services/free-port.ts';

const TakeBody = z.strictObject({
  max: z.int().min(1).max(100).default(20),
  wait_seconds: z.int().min(0).max(30).default(0),
  lease_seconds: z.int().min(10).max(300).default(60),
  request_id: z
    .string()
    .regex(/^[!-~]{1,64}$/)
    .optional(),
});

const DoneBody = z.strictObject({
  results: z
    .array(
      z.strictObject({
        vote_id: z.uuid(),
        lease: z.string(),
        outcome: z.enum(['delivered', 'sent', 'unknown', 'retry', 'failed']),
        reason: z
          .string()
          .refine((text) => [...text].length <= 200)
          .optional(),
      }),
    )
    .min(1)
    .max(100),
});
type Result = z.infer<typeof DoneBody>['results'][number];
type Outcome = Result['outcome'];

const LARGEST_DONE = 64 * 1_024;

/** A vote of the fake listing. */
export type FakeVote = {
  id: string;
  username: string;
  votedAt: string;
  serviceName: string;
  state: 'waiting' | 'taken' | 'delivered' | 'sent' | 'failed' | 'unconfirmed';
  /** How often it may have arrived before, and one. */
  sending: number;
  /** The outcome of each taking, by its lease; `lease ended` while nothing else is known. */
  takings: Map<string, Outcome | 'lease ended' | undefined>;
  lease: string;
  leaseEndsAt: number;
  requestId: string | undefined;
  /** Not taken before this time. */
  dueAt: number;
  /** What happened to it, oldest first, such as `taken 1`, `delivered`, `lease ended`. */
  timeline: string[];
  /** The reason of the last result. */
  reason: string | undefined;
};

/** A request that arrived, with what the contract answers to it. */
export type DeliveryCall = {
  path: 'take' | 'done';
  body: unknown;
  headers: IncomingMessage['headers'];
  request: IncomingMessage;
  response: ServerResponse;
  /** Does what the contract says, and returns the answer without sending it. */
  answer: () => Promise<{ status: number; body: object }>;
};

/**
 * A fake of the two endpoints from which a server fetches its votes: `deliveries/take` and `deliveries/done`, exactly as
 * the OpenAPI document describes them. `intercept` lets it misbehave.
 */
export class FakeDeliveryApi {
  readonly key = `tp_${randomUUID()}`;
  readonly votes: FakeVote[] = [];
  /** Every request, oldest first. */
  readonly calls: Pick<DeliveryCall, 'path' | 'body' | 'headers'>[] = [];
  /** Answers with 400, which a correct caller never gets. */
  refusedBodies = 0;
  paused = false;
  /** Whether the server's listener is one that fetches. */
  fetching = true;
  /** How often a vote is sent after ambiguous ends. */
  sendings = 3;
  /** How soon a vote comes again after `retry` or an ambiguous end. */
  retryMs = 200;
  /** Returns true if it has answered, or will not answer at all. */
  intercept: ((call: DeliveryCall) => boolean | Promise<boolean>) | undefined;

  readonly #server: Server = createServer((request, response) => {
    this.#receive(request, response).catch((error: unknown) => {
      // A client that is killed while it sends leaves nothing to answer.
      if (!request.destroyed) throw error;
    });
  });
  readonly #waiting = new Set<() => void>();
  #port = 0;

  /** The server's address in the API. */
  get url(): string {
    return `http://127.0.0.1:${this.#port}/api/v1/servers/6555c0ffee6555c0ffee6555`;
  }

  async start(): Promise<void> {
    this.#port ||= await freePort();
    await once(this.#server.listen(this.#port, '127.0.0.1'), 'listening');
    this.#port = (this.#server.address() as AddressInfo).port;
  }

  async stop(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.#server.closeAllConnections();
    await closed;
  }

  /** A vote that waits to be taken. */
  cast(username: string, { serviceName = 'Tallyport' } = {}): FakeVote {
    const vote: FakeVote = {
      id: randomUUID(),
      username,
      votedAt: new Date().toISOString(),
      serviceName,
      state: 'waiting',
      sending: 1,
      takings: new Map(),
      lease: '',
      leaseEndsAt: 0,
      requestId: undefined,
      dueAt: 0,
      timeline: [],
      reason: undefined,
    };
    this.votes.push(vote);
    this.#wake();
    return vote;
  }

  /** As when an owner sends a vote again by hand. */
  resend(vote: FakeVote): void {
    vote.timeline.push('resend');
    this.#schedule(vote, 0);
  }

  /** As when the time of all leases that run has passed. */
  endLeases(): void {
    for (const vote of this.votes) vote.leaseEndsAt = 0;
    this.#sweep();
  }

  #schedule(vote: FakeVote, inMs: number): void {
    vote.state = 'waiting';
    vote.dueAt = Date.now() + inMs;
    setTimeout(() => this.#wake(), inMs + 1);
  }

  #wake(): void {
    for (const wake of this.#waiting) wake();
  }

  /** An ended lease without a word is an ambiguous end. */
  #sweep(): void {
    for (const vote of this.votes) {
      if (vote.state !== 'taken' || vote.leaseEndsAt > Date.now()) continue;
      vote.timeline.push('lease ended');
      vote.takings.set(vote.lease, 'lease ended');
      this.#ambiguous(vote);
    }
  }

  #ambiguous(vote: FakeVote): void {
    vote.sending += 1;
    if (vote.sending > this.sendings) vote.state = 'unconfirmed';
    else this.#schedule(vote, this.retryMs);
  }

  async #receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString();
    const path = request.url?.endsWith('/deliveries/done') ? 'done' : 'take';
    const call: DeliveryCall = {
      path,
      body: JSON.parse(text) as unknown,
      headers: request.headers,
      request,
      response,
      answer: () => this.#answer(path, text, request, response),
    };
    this.calls.push(call);
    if (await this.intercept?.(call)) return;
    const { status, body } = await call.answer();
    if (response.destroyed) return;
    const bearer = status === 401 ? { 'www-authenticate': 'Bearer' } : {};
    response.writeHead(status, { 'content-type': 'application/json', ...bearer }).end(JSON.stringify(body));
  }

  async #answer(path: 'take' | 'done', text: string, request: IncomingMessage, response: ServerResponse) {
    if (request.headers.authorization !== `Bearer ${this.key}`) return refusal(401, 'unauthorized');
    if (!request.url?.endsWith(`/6555c0ffee6555c0ffee6555/deliveries/${path}`))
      return refusal(404, 'not-found');
    const body = JSON.parse(text) as unknown;
    if (path === 'done') return this.#done(body, text);
    const asked = TakeBody.safeParse(body);
    if (!asked.success) return this.#malformed();
    if (!this.fetching) return refusal(422, 'fetch-not-set');
    return { status: 200, body: await this.#take(asked.data, response) };
  }

  #malformed() {
    this.refusedBodies += 1;
    return refusal(400, 'malformed');
  }

  async #take(asked: z.infer<typeof TakeBody>, response: ServerResponse): Promise<object> {
    const until = Date.now() + asked.wait_seconds * 1_000;
    for (;;) {
      this.#sweep();
      const now = Date.now();
      const again = this.votes.filter(
        ({ state, requestId }) =>
          state === 'taken' && requestId !== undefined && requestId === asked.request_id,
      );
      const due = this.votes.filter(({ state, dueAt }) => state === 'waiting' && dueAt <= now);
      const ready = !this.paused && !response.destroyed;
      if (ready && again.length + due.length === 0 && now < until) await this.#due(until - now, response);
      else {
        const taken = !ready ? [] : again.length > 0 ? again : due.slice(0, asked.max);
        for (const vote of taken) if (!again.includes(vote)) this.#lease(vote, asked);
        return { deliveries: taken.map(shown), paused: this.paused };
      }
    }
  }

  #lease(vote: FakeVote, asked: z.infer<typeof TakeBody>): void {
    vote.state = 'taken';
    vote.lease = randomUUID();
    vote.takings.set(vote.lease, undefined);
    vote.leaseEndsAt = Date.now() + asked.lease_seconds * 1_000;
    vote.requestId = asked.request_id;
    vote.timeline.push(`taken ${vote.sending}`);
  }

  async #due(ms: number, response: ServerResponse): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, ms);
    this.#waiting.add(resolve);
    response.once('close', resolve);
    await promise;
    clearTimeout(timer);
    this.#waiting.delete(resolve);
    response.off('close', resolve);
  }

  #done(body: unknown, text: string) {
    const told = DoneBody.safeParse(body);
    const ids = new Set(told.data?.results.map(({ vote_id }) => vote_id));
    if (!told.success || ids.size < told.data.results.length || Buffer.byteLength(text) > LARGEST_DONE)
      return this.#malformed();
    this.#sweep();
    const ends = told.data.results.map((result) => ({ vote_id: result.vote_id, code: this.#settle(result) }));
    return {
      status: 200,
      body: {
        settled: ends.filter(({ code }) => code === undefined).map(({ vote_id }) => vote_id),
        refused: ends.filter(({ code }) => code !== undefined),
        fetching: this.fetching,
        paused: this.paused,
      },
    };
  }

  #settle({ vote_id, lease, outcome, reason }: Result): string | undefined {
    const vote = this.votes.find(({ id }) => id === vote_id);
    if (!vote) return 'unknown-vote';
    const before = vote.takings.get(lease);
    if (before === outcome) return undefined;
    const late = before === 'lease ended';
    const arrived = outcome === 'delivered' || outcome === 'sent';
    if (!vote.takings.has(lease) || (late && !arrived)) return 'lease-ended';
    if (before && !late) return 'settled-differently';
    vote.takings.set(lease, outcome);
    vote.timeline.push(late ? `${outcome} late` : outcome);
    vote.reason = reason;
    if (outcome === 'retry') this.#schedule(vote, this.retryMs);
    else if (outcome === 'unknown') this.#ambiguous(vote);
    else vote.state = outcome;
    if (arrived && !late) vote.sending += 1;
    return undefined;
  }
}

function shown(vote: FakeVote) {
  return {
    vote_id: vote.id,
    username: vote.username,
    voted_at: vote.votedAt,
    service_name: vote.serviceName,
    sending: vote.sending,
    lease: vote.lease,
    lease_seconds_left: Math.floor((vote.leaseEndsAt - Date.now()) / 1_000),
    // A later version may add fields.
    later_field: { ignored: [true, null, 1.5e3] },
  };
}

function refusal(status: number, code: string) {
  return { status, body: { error: 'A sentence.', code, doc_url: 'https://listing.example/docs/errors' } };
}
