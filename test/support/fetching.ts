import type { ObjectId, UUID } from 'mongodb';
import { setFetchListener } from '../../src/delivery/fetch/fetch-listener.ts';
import { issueToken } from '../../src/servers/api-tokens.ts';
import type { Vote } from '../../src/votes/vote.ts';
import type { Answer } from './api-description.ts';
import { castVote } from './casting.ts';
import type { TestDeps, TestServer } from './start-app.ts';

/** A vote as `take` answers it. */
export type TakenVote = {
  vote_id: string;
  username: string;
  voted_at: string;
  service_name: string;
  sending: number;
  resends: number;
  lease: string;
  lease_seconds_left: number;
};

export type TakeBody = { max?: number; wait_seconds?: number; lease_seconds?: number; request_id?: string };

/** A listed server that fetches its votes; `token` is a delivery token. */
export type FetchingServer = TestServer & {
  /** Calls `take` and expects 200. */
  take(body?: TakeBody): Promise<TakenVote[]>;
  /** Calls `take`, whatever it answers. */
  call(body?: TakeBody, init?: RequestInit, url?: string): Promise<Answer>;
  /** Calls `done`, whatever it answers. */
  done(results: object[]): Promise<Answer>;
  /** Calls `done` for votes with one outcome, and expects that all are settled. */
  settle(taken: TakenVote[], outcome: string, reason?: string): Promise<void>;
  cast(username: string): Promise<Vote>;
  vote(id: string | UUID): Promise<Vote>;
};

/** Lists a server that fetches its votes. */
export async function addFetchingServer(web: TestDeps): Promise<FetchingServer> {
  const server = await web.addServer();
  const { serverId } = server;
  await setFetchListener(web.deps, serverId, { serviceName: 'Tallyport' }, 'test');
  return fetchingServer(web, server);
}

/** A delivery token of a server, with what a taker does with it. */
export async function fetchingServer(web: TestDeps, server: TestServer): Promise<FetchingServer> {
  const { serverId } = server;
  const { token } = await issueToken(web.deps, { serverId, name: 'relay', kind: 'deliver' });
  const own = { ...server, token };
  const post = (endpoint: string, body: object, init: RequestInit = {}, url = web.url) =>
    web.call(
      own,
      `deliveries/${endpoint}`,
      {
        method: 'POST',
        body: JSON.stringify(body),
        ...init,
        headers: { 'content-type': 'application/json', ...(init.headers as Record<string, string>) },
      },
      url,
    );
  const done: FetchingServer['done'] = (results) => post('done', { results });
  return {
    ...own,
    call: (body = {}, init, url) => post('take', body, init, url),
    async take(body = {}) {
      const { status, body: json } = await post('take', body);
      if (status !== 200) throw new Error(`take was answered with ${status}: ${JSON.stringify(json)}`);
      return (json as { deliveries: TakenVote[] }).deliveries;
    },
    done,
    async settle(taken, outcome, reason) {
      const results = taken.map(({ vote_id, lease }) => ({
        vote_id,
        lease,
        outcome,
        ...(reason ? { reason } : {}),
      }));
      const { body: json } = await done(results);
      if ((json as { refused: unknown[] }).refused.length > 0)
        throw new Error(`not settled: ${JSON.stringify(json)}`);
    },
    async cast(username) {
      const cast = await castVote(web.deps, { serverId, username, tokenId: server.tokenId });
      if (cast.kind !== 'accepted') throw new Error(`${username} was refused`);
      return cast.vote;
    },
    vote: (id) => voteOf(web, serverId, String(id)),
  };
}

async function voteOf({ deps }: TestDeps, serverId: ObjectId, id: string): Promise<Vote> {
  const found = (await deps.votes.find({ serverId }).toArray()).find(({ _id }) => _id.toString() === id);
  if (!found) throw new Error(`no vote ${id}`);
  return found;
}
