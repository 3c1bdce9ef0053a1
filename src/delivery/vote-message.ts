/** The fields of a vote that are forwarded. They are the same in every attempt. */
export type ForwardedVote = {
  /** The vote's id: a UUID with dashes. Listeners receive it as `uuid` (v2) or `vote_id` (HTTP). */
  id: string;
  /** The player's name as typed, trimmed. */
  username: string;
  votedAt: Date;
};

/** The player's name in a test vote: the owner of the server sees at once that no player voted. */
export const TEST_USERNAME = 'TallyportTest';

/**
 * Stands for the player's address, which is not stored. The API caller's address must not be sent (docs/delivery.md).
 */
export const VOTER_ADDRESS = '0.0.0.0';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/**
 * Refuses a vote that must never reach a listener. A Votifier v1 message has one line for each field: if a name
 * contained a line feed, it could forge the fields after it.
 *
 * @throws {TypeError} for such a vote; none is ever stored, so only a bug in Tallyport causes this error
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
