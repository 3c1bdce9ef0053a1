import { errorOf, TallyportError } from './errors.ts';
import { createClient } from './generated/client/client.gen.ts';
import {
  getServer,
  getServerHistory,
  getStats,
  listGames,
  listReviews,
  listServers,
} from './generated/sdk.gen.ts';
import type {
  GetServerHistoryData,
  ListReviewsData,
  ListServersData,
  PublicGames,
  PublicHistory,
  PublicServerInFull,
  PublicServerPage,
  PublicStats,
  ReviewPage,
} from './generated/types.gen.ts';
import { checkListingOptions, type ListingOptions, withoutUndefined } from './options.ts';
import { pause, retryingFetch, type Timing } from './retrying-fetch.ts';

/** A server of the lists. */
export type PublicServer = PublicServerPage['servers'][number];

type CallOptions = { signal?: AbortSignal | undefined };
type ServersQuery = Omit<NonNullable<ListServersData['query']>, 'cursor'>;

type Operation<Data> = (options: never) => Promise<{
  data?: Data | undefined;
  error?: unknown;
  response?: Response | undefined;
}>;

const DEFAULT_TIMING: Timing = { timeout_ms: 10_000, deadline_ms: 30_000, backoff_ms: 500 };

/** The limit of calls is for a minute. */
const LONGEST_WAIT_SECONDS = 60;

function endless(): TallyportError {
  return new TallyportError('The listing names the same page as the next one.', {
    status: 200,
    code: 'unexpected-answer',
  });
}

/** A client of what a listing shows to everybody. Every method throws `TallyportError`, or the reason of its signal. */
export type Listing = ReturnType<typeof createListing>;

/**
 * Creates a client that needs no token. It also works in browsers.
 *
 * @throws {TypeError} naming the option that is wrong
 */
export function createListing(options: ListingOptions) {
  const { url, fetch, ...timing } = checkListingOptions({
    fetch: globalThis.fetch,
    ...DEFAULT_TIMING,
    ...withoutUndefined(options),
  });
  // A former slug redirects to the present one. There is no token that another host could get.
  const following = retryingFetch(fetch, timing, 'follow');
  const client = createClient({ baseUrl: url, fetch: following as typeof globalThis.fetch });

  async function read<Data>(operation: Operation<Data>, parameters: object): Promise<NonNullable<Data>> {
    const { signal } = parameters as CallOptions;
    const { data, error, response } = await operation({ ...parameters, client } as never);
    const isJson = /^application\/json\b/.test(response?.headers.get('content-type') ?? '');
    if (response?.ok && data && error === undefined && isJson) return data;
    signal?.throwIfAborted();
    throw errorOf(error, response, undefined);
  }

  /** If the limit of calls is used up: waits as long as the listing says, at most a minute, and calls again. */
  async function unlimited<T>(call: () => Promise<T>, signal = new AbortController().signal): Promise<T> {
    for (;;) {
      try {
        return await call();
      } catch (error) {
        if (!(error instanceof TallyportError && error.status === 429)) throw error;
        await pause(1_000 * Math.min(error.retry_after ?? 1, LONGEST_WAIT_SECONDS), signal);
      }
    }
  }

  async function* pages(
    query: ServersQuery,
    { signal }: CallOptions,
  ): AsyncGenerator<PublicServerPage, void, void> {
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const page: PublicServerPage = await unlimited(
        () => read(listServers, { query: { ...query, ...(cursor ? { cursor } : {}) }, signal }),
        signal,
      );
      yield page;
      if (cursor && page.next_cursor === cursor) throw endless();
      cursor = page.next_cursor;
    }
  }

  return {
    /**
     * The servers of the ranking, a list or a search, as a loop that reads one page after the other:
     * `for await (const server of listing.servers({ game: 'minecraft', online: 'true' }))`. If the limit of calls is used
     * up (429), it waits as long as the listing says, at most a minute at once.
     */
    async *servers(
      query: ServersQuery = {},
      options: CallOptions = {},
    ): AsyncGenerator<PublicServer, void, void> {
      for await (const page of pages({ limit: 100, ...query }, options)) yield* page.servers;
    },

    /** The same, page by page. */
    pages: (query: ServersQuery = {}, options: CallOptions = {}) => pages(query, options),

    /** A server by its slug or id. Throws the code `not-found` if none is listed under it. */
    server: (slug: string, options: CallOptions = {}): Promise<PublicServerInFull> =>
      read(getServer, { path: { slug }, ...options }),

    /** One page of reviews of a server, by its slug. */
    reviews: (
      slug: string,
      query: ListReviewsData['query'] = {},
      options: CallOptions = {},
    ): Promise<ReviewPage> => read(listReviews, { path: { server_id: slug }, query, ...options }),

    /** Players and uptime by hours or days. */
    history: (
      slug: string,
      query: GetServerHistoryData['query'] = {},
      options: CallOptions = {},
    ): Promise<PublicHistory> => read(getServerHistory, { path: { slug }, query, ...options }),

    /** The games with listed servers, and how many each has. */
    games: (options: CallOptions = {}): Promise<PublicGames> => read(listGames, options),

    /** The totals of the listing. */
    stats: (options: CallOptions = {}): Promise<PublicStats> => read(getStats, options),
  };
}
