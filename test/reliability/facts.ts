import type { Call, History, Listed, Receipt, StoredVote } from './history.ts';

/** Indexes of a history. */
export type Facts = {
  votesById: Map<string, StoredVote>;
  votesByPlayer: Map<string, StoredVote[]>;
  callsByPlayer: Map<string, Call[]>;
  receiptsByVote: Map<string, Receipt[]>;
  /** Receipts that belong to no stored vote. */
  strays: Receipt[];
};

/** A player at a server; the names of players differ in more than case. */
export const playerOf = ({ serverId, username }: { serverId: string; username: string }) =>
  `${serverId}/${username.toLowerCase()}`;

/** What a listener receives: the name as it was typed, and the time of the vote. */
const messageOf = ({ serverId, username, votedAt }: Pick<Receipt, 'serverId' | 'username' | 'votedAt'>) =>
  `${serverId}/${username}@${votedAt}`;

/** Indexes a history by vote and by player. */
export function order({ calls, receipts, votes }: History): Facts {
  const votesById = new Map(votes.map((vote) => [vote.voteId, vote]));
  const byMessage = new Map(votes.map((vote) => [messageOf(vote), vote.voteId]));
  const receiptsByVote = new Map<string, Receipt[]>();
  const strays: Receipt[] = [];
  for (const receipt of receipts) {
    // By the content of the message, because v1 has no id. A vote that reached another server's listener belongs to no
    // vote, too.
    const voteId = byMessage.get(messageOf(receipt));
    if (voteId === undefined || (receipt.voteId ?? voteId) !== voteId) strays.push(receipt);
    else append(receiptsByVote, voteId, receipt);
  }
  const votesByPlayer = new Map<string, StoredVote[]>();
  for (const vote of votes) append(votesByPlayer, playerOf(vote), vote);
  const callsByPlayer = new Map<string, Call[]>();
  for (const call of calls) append(callsByPlayer, playerOf(call), call);
  return { votesById, votesByPlayer, callsByPlayer, receiptsByVote, strays };
}

/** Adds `value` to the values of `key`. */
export function append<T>(map: Map<string, T[]>, key: string, value: T): void {
  const found = map.get(key);
  if (found) found.push(value);
  else map.set(key, [value]);
}

/** A call that was answered with a vote. */
export type AcceptedCall = Call & { answer: Extract<Call['answer'], { kind: 'accepted' }> };

/** The calls that were answered with a vote. */
export function accepted(calls: Call[]): AcceptedCall[] {
  return calls.filter((call): call is AcceptedCall => call.answer.kind === 'accepted');
}

/** The ids of the servers whose listener is of this kind. */
export function serversOf(servers: Listed[], listener: Listed['listener']): Set<string> {
  return new Set(servers.filter((server) => server.listener === listener).map(({ serverId }) => serverId));
}
