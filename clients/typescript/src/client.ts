import { errorOf } from './errors.ts';
import { createClient } from './generated/client/client.gen.ts';
import type { Client } from './generated/client/types.gen.ts';
import {
  castVote,
  checkVote,
  claimVote,
  getServerInfo,
  listReviews,
  listTopVoters,
  listVotes,
  reportStatus,
} from './generated/sdk.gen.ts';
import type {
  ListReviewsData,
  ListTopVotersData,
  ListVotesData,
  ReviewPage,
  ServerInfo,
  StatusReport,
  TopVoters,
  VoteCheck,
  VoteClaim,
  VotePage,
} from './generated/types.gen.ts';
import { retryingFetch, type Timing } from './retrying-fetch.ts';

/** A listed server, its token, and how long a call may take. */
export type TallyportOptions = Partial<Timing> & {
  /** The address of the listing, with its path if it has one: `https://listing.example`. */
  url: string;
  /** 24 hexadecimal digits; on the dashboard's page "API access". */
  serverId: string;
  /** A token of this server. Keep it on your own server: it must not reach a browser. */
  token: string;
  /** By default the `fetch` of the platform. */
  fetch?: typeof globalThis.fetch;
};

/** What each call takes besides its own parameters. */
export type CallOptions = { signal?: AbortSignal | undefined };

/** A vote that was accepted. */
export type AcceptedVote = {
  id: string;
  /** Votes of this server in the current UTC month, this one included. */
  monthlyVotes: number;
  nextVoteAt: Date;
};

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

const DEFAULT_TIMING: Timing = { timeoutMs: 10_000, deadlineMs: 30_000, backoffMs: 500 };

/** A client of one server. Every method throws `TallyportError`, or the signal's reason when it is aborted. */
export type Tallyport = ReturnType<typeof createTallyport>;

const isJson = ({ headers }: Response) => /^application\/json\b/.test(headers.get('content-type') ?? '');

/** Makes a client of one server. */
export function createTallyport({
  url,
  serverId,
  token,
  fetch = globalThis.fetch,
  ...timing
}: TallyportOptions) {
  const client: Client = createClient({
    baseUrl: url.replace(/\/+$/, ''),
    auth: token,
    fetch: retryingFetch(fetch, { ...DEFAULT_TIMING, ...timing }) as typeof globalThis.fetch,
  });

  /** Calls an operation of `@tallyport/client/api` with the retries and errors of this client. */
  async function call<Data>(operation: Operation<Data>, parameters: Parameters = {}): Promise<Answer<Data>> {
    const options = { ...parameters, client, path: { server_id: serverId } };
    const { data, error, response } = await operation(options as never);
    // A proxy may answer 200 with a page of its own.
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
    call,

    /**
     * Casts a vote. Retries keep the same `Idempotency-Key`, so that the vote counts once. Give `idempotencyKey` to repeat
     * a vote whose call failed earlier. Throws the code `cooldown` with `nextVoteAt` if the player has voted already.
     */
    async vote(
      username: string,
      { idempotencyKey = crypto.randomUUID(), signal }: CallOptions & { idempotencyKey?: string } = {},
    ): Promise<AcceptedVote> {
      const headers = { 'Idempotency-Key': idempotencyKey };
      const { data, response } = await call(castVote, { body: { username }, headers, signal });
      return {
        id: response.headers.get('vote-id') ?? '',
        monthlyVotes: data.monthly_votes,
        nextVoteAt: new Date(data.next_vote_at),
      };
    },

    /** Whether a player voted in the last 24 hours. */
    checkVote(username: string, options: CallOptions = {}): Promise<VoteCheck> {
      return dataOf(checkVote, { query: { username }, ...options });
    },

    /**
     * Claims a player's vote of the last 24 hours: reward the player if `claimed` is true. Retries keep the same
     * `Idempotency-Key`, so that a lost answer loses no reward.
     */
    async claimVote(
      username: string,
      { idempotencyKey = crypto.randomUUID(), signal }: CallOptions & { idempotencyKey?: string } = {},
    ): Promise<VoteClaim> {
      const headers = { 'Idempotency-Key': idempotencyKey };
      return (await call(claimVote, { body: { username }, headers, signal })).data;
    },

    /** Reports the server's status. Throws the code `too-early` with `nextAllowedAt` within 5 minutes of the last one. */
    async reportStatus(report: StatusReport, options: CallOptions = {}): Promise<void> {
      await call(reportStatus, { body: report, ...options });
    },

    /** The server and its figures. */
    info(options: CallOptions = {}): Promise<ServerInfo> {
      return dataOf(getServerInfo, options);
    },

    /** One page of reviews. */
    reviews(query: ListReviewsData['query'] = {}, options: CallOptions = {}): Promise<ReviewPage> {
      return dataOf(listReviews, { query, ...options });
    },

    /** One page of votes, newest first. */
    votes(query: ListVotesData['query'] = {}, options: CallOptions = {}): Promise<VotePage> {
      return dataOf(listVotes, { query, ...options });
    },

    /** The players with the most votes in a UTC month. */
    topVoters(query: ListTopVotersData['query'] = {}, options: CallOptions = {}): Promise<TopVoters> {
      return dataOf(listTopVoters, { query, ...options });
    },
  };
}
