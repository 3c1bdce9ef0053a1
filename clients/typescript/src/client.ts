import { type Delivery, type DeliveryResult, type TakeOptions, takeDeliveries } from './deliveries.ts';
import { errorOf } from './errors.ts';
import { createClient } from './generated/client/client.gen.ts';
import type { Client } from './generated/client/types.gen.ts';
import {
  castVote,
  checkVote,
  claimVote,
  getPlayerNames,
  getServerAddresses,
  getServerInfo,
  getVoteGoal,
  listReviews,
  listTopVoters,
  listVotes,
  reportStatus,
  settleDeliveries,
  takeDeliveries as takeOnce,
} from './generated/sdk.gen.ts';
import type {
  ListReviewsData,
  ListTopVotersData,
  ListVotesData,
  PlayerNames,
  ReviewPage,
  ServerAddresses,
  ServerInfo,
  StatusReport,
  TakeRequest,
  TopVoters,
  VoteAccepted,
  VoteCheck,
  VoteClaim,
  VoteGoal,
  VotePage,
} from './generated/types.gen.ts';
import { checkOptions, type TallyportOptions, withoutUndefined } from './options.ts';
import { retryingFetch, type Timing } from './retrying-fetch.ts';

/** What each call takes besides its own parameters. */
export type CallOptions = { signal?: AbortSignal | undefined };

/** An accepted vote: the body of the answer, and two of its headers. */
export type AcceptedVote = VoteAccepted & {
  /** The header `Vote-Id`. */
  vote_id: string;
  /** The header `Idempotent-Replayed`: true if an earlier call with the same key has cast the vote. */
  replayed: boolean;
};

/** Options of a call with an idempotency key. With the same key, the call can be repeated safely. */
type KeyOptions = CallOptions & { idempotency_key?: string };

/** An operation of `@tallyport/client/api`, such as `castVote`. */
type Operation<Data> = (options: never) => Promise<{
  data?: Data | undefined;
  error?: unknown;
  response?: Response | undefined;
}>;

/** The parameters of an operation. */
type Parameters = CallOptions & { query?: unknown; body?: unknown; headers?: Record<string, string> };

/** A successful call. */
type Answer<Data> = { data: NonNullable<Data>; response: Response };

const DEFAULT_TIMING: Timing = { timeout_ms: 10_000, deadline_ms: 30_000, backoff_ms: 500 };

/**
 * A client of one server. Every method throws `TallyportError`; if its signal is aborted, it throws the signal's
 * reason.
 */
export type Tallyport = ReturnType<typeof createTallyport>;

const isJson = ({ headers }: Response) => /^application\/json\b/.test(headers.get('content-type') ?? '');

/**
 * Creates a client of one server.
 *
 * @throws {TypeError} naming the option that is wrong
 */
export function createTallyport(options: TallyportOptions) {
  const { url, server_id, token, fetch, ...timing } = checkOptions({
    fetch: globalThis.fetch,
    ...DEFAULT_TIMING,
    ...withoutUndefined(options),
  });
  const clientWith = (limits: Timing): Client =>
    createClient({
      baseUrl: url,
      auth: token,
      fetch: retryingFetch(fetch, limits) as typeof globalThis.fetch,
    });
  const client = clientWith(timing);

  async function call<Data>(
    operation: Operation<Data>,
    parameters: Parameters = {},
    via = client,
  ): Promise<Answer<Data>> {
    const options = { ...parameters, client: via, path: { server_id } };
    const { data, error, response } = await operation(options as never);
    // The content type is checked too, because a proxy may answer 200 with a page of its own.
    if (response?.ok && data && error === undefined && isJson(response)) return { data, response };
    parameters.signal?.throwIfAborted();
    throw errorOf(error, response, parameters.headers?.['Idempotency-Key']);
  }

  async function dataOf<Data>(
    operation: Operation<Data>,
    parameters: Parameters,
  ): Promise<NonNullable<Data>> {
    return (await call(operation, parameters)).data;
  }

  return {
    /** Calls an operation of `@tallyport/client/api` with the retries and errors of this client. */
    call: <Data>(operation: Operation<Data>, parameters?: Parameters) => call(operation, parameters),

    /**
     * Casts a vote. Retries keep the same `Idempotency-Key`, so the vote counts once. If a call failed and you repeat
     * it later, give the `idempotency_key` of its error. Throws the code `cooldown` with `next_vote_at` if the player
     * has already voted.
     */
    async vote(
      username: string,
      { idempotency_key = crypto.randomUUID(), signal }: KeyOptions = {},
    ): Promise<AcceptedVote> {
      const headers = { 'Idempotency-Key': idempotency_key };
      const { data, response } = await call(castVote, { body: { username }, headers, signal });
      const vote_id = response.headers.get('vote-id') ?? '';
      return { ...data, vote_id, replayed: response.headers.get('idempotent-replayed') === 'true' };
    },

    /** Whether a player voted in the last 24 hours. */
    checkVote(username: string, options: CallOptions = {}): Promise<VoteCheck> {
      return dataOf(checkVote, { query: { username }, ...options });
    },

    /**
     * Claims a player's vote of the last 24 hours. Reward the player only if `claimed` is true. Retries keep the same
     * `Idempotency-Key`: if the first answer is lost, the retry gets `claimed: true` too.
     */
    async claimVote(
      username: string,
      { idempotency_key = crypto.randomUUID(), signal }: KeyOptions = {},
    ): Promise<VoteClaim> {
      const headers = { 'Idempotency-Key': idempotency_key };
      return (await call(claimVote, { body: { username }, headers, signal })).data;
    },

    /**
     * Reports the server's status. If the last report is less than 5 minutes old: throws the code `too-early` with
     * `next_allowed_at`.
     */
    async reportStatus(report: StatusReport, options: CallOptions = {}): Promise<void> {
      await call(reportStatus, { body: report, ...options });
    },

    /** The server and its figures. */
    info(options: CallOptions = {}): Promise<ServerInfo> {
      return dataOf(getServerInfo, options);
    },

    /** Its address, or those of both editions of Minecraft, each with its status. */
    addresses(options: CallOptions = {}): Promise<ServerAddresses> {
      return dataOf(getServerAddresses, options);
    },

    /** The server's vote goal. Throws the code `no-goal` if it has none. */
    goal(options: CallOptions = {}): Promise<VoteGoal> {
      return dataOf(getVoteGoal, options);
    },

    /** One page of reviews. */
    reviews(query: ListReviewsData['query'] = {}, options: CallOptions = {}): Promise<ReviewPage> {
      return dataOf(listReviews, { query, ...options });
    },

    /** One page of votes, newest first. */
    votes(query: ListVotesData['query'] = {}, options: CallOptions = {}): Promise<VotePage> {
      return dataOf(listVotes, { query, ...options });
    },

    /**
     * The votes of a server that fetches them, as an endless loop: `for await (const vote of tallyport.takeDeliveries())`.
     * When the loop's body ends, the vote is settled as `delivered`, or as the vote's methods were told. If the body
     * throws or leaves the loop without a word, it is settled as `unknown`. Needs a delivery token.
     */
    takeDeliveries(options: TakeOptions = {}): AsyncGenerator<Delivery, void, void> {
      const waitMs = (options.wait_seconds ?? 25) * 1_000;
      const { timeout_ms, deadline_ms, backoff_ms } = timing;
      const patient = clientWith({
        backoff_ms,
        timeout_ms: timeout_ms + waitMs,
        deadline_ms: deadline_ms + waitMs,
      });
      const calls = {
        backoff_ms,
        take: async (body: TakeRequest, signal: AbortSignal) =>
          (await call(takeOnce, { body, signal }, patient)).data,
        settle: (results: DeliveryResult[]) => call(settleDeliveries, { body: { results } }),
      };
      return takeDeliveries(calls, options);
    },

    /** The players with the most votes in a UTC month. */
    topVoters(query: ListTopVotersData['query'] = {}, options: CallOptions = {}): Promise<TopVoters> {
      return dataOf(listTopVoters, { query, ...options });
    },

    /** Which names of players the vote form takes, such as the prefix of Bedrock Edition. */
    playerNames(options: CallOptions = {}): Promise<PlayerNames> {
      return dataOf(getPlayerNames, options);
    },
  };
}
