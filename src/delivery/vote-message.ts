/** The same in every attempt. */
export type ForwardedVote = {
  /** A UUID with dashes: `uuid` (v2) or `vote_id` (HTTP). */
  id: string;
  /** As typed, trimmed. */
  username: string;
  votedAt: Date;
};

/** The owner of the server sees at once that no player voted. */
export const TEST_USERNAME = 'TallyportTest';

/** The player's address is not stored, and the API caller's must not be sent (docs/delivery.md). */
export const VOTER_ADDRESS = '0.0.0.0';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/**
 * Refuses a vote that must never reach a listener: in a Votifier v1 message, a name with a line feed could forge the
 * fields after it. None is ever stored, so only a bug causes this TypeError.
 */
export function assertSendable(vote: ForwardedVote, serviceName: string): void {
  for (const [field, text] of Object.entries({ username: vote.username, serviceName })) {
    if (text === '') throw new TypeError(`The ${field} of a forwarded vote is empty`);
    if (/\p{Cc}/u.test(text)) throw new TypeError(`The ${field} of a forwarded vote has a control character`);
    if (!text.isWellFormed())
      throw new TypeError(`The ${field} of a forwarded vote has an unpaired surrogate`);
  }
  if (!UUID.test(vote.id)) throw new TypeError('The id of a forwarded vote is not a UUID');
  if (Number.isNaN(vote.votedAt.getTime())) throw new TypeError('The time of a forwarded vote is not valid');
}
