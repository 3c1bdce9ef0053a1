import { Agent, request } from 'node:http';
import type { ObjectId } from 'mongodb';
import type { AppDeps } from '../../src/process/app-deps.ts';
import { issueToken } from '../../src/servers/api-tokens.ts';

/** A listed server and a token for it. */
export type Caller = { serverId: ObjectId; token: string };

/** Issues a token for each server. */
export async function callersOf(deps: AppDeps, serverIds: ObjectId[]): Promise<Caller[]> {
  const callers: Caller[] = [];
  for (const serverId of serverIds) {
    const { token } = await issueToken(deps, { serverId, name: 'bench' });
    callers.push({ serverId, token });
  }
  return callers;
}

// Node's http client needs less CPU time than fetch. The client's CPU time must not dominate the measurement.
const agent = new Agent({ keepAlive: true, maxSockets: 1_000 });

/** Casts a vote and returns its id. */
export async function castVote(url: string, caller: Caller, username: string): Promise<string> {
  const headers = await call(url, caller, 'vote', JSON.stringify({ username }));
  return String(headers['vote-id']);
}

/** Calls check-vote. */
export async function checkVote(url: string, caller: Caller, username: string): Promise<void> {
  await call(url, caller, `check-vote?username=${username}`);
}

function call(url: string, { serverId, token }: Caller, endpoint: string, body?: string) {
  const headers = {
    authorization: `Bearer ${token}`,
    ...(body ? { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) } : {}),
  };
  const { promise, resolve, reject } = Promise.withResolvers<NodeJS.Dict<string | string[]>>();
  const sent = request(
    `${url}/api/v1/servers/${serverId.toHexString()}/${endpoint}`,
    { agent, headers, method: body ? 'POST' : 'GET' },
    (response) => {
      response.resume().on('end', () => {
        if (response.statusCode === 200) resolve(response.headers);
        else reject(new Error(`${endpoint} answered ${response.statusCode}`));
      });
    },
  );
  sent.on('error', reject).end(body);
  return promise;
}
