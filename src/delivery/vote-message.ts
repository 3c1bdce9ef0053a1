/** A vote as it is forwarded. What is sent is a plain function of it, the same in every attempt. */
export type ForwardedVote = {
  /** The vote's id: a UUID with dashes. Listeners receive it as `uuid` (v2 only). */
  id: string;
  /** The player's name as typed. */
  username: string;
  /** When the player voted; every attempt says this time, not its own. */
  votedAt: Date;
};

/**
 * Stands where Votifier has the voter's address. Tallyport does not know it, and the address of the API's
 * caller is nobody's business (delivery.md).
 */
export const VOTER_ADDRESS = '0.0.0.0';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/**
 * Refuses what must never reach a listener. In v1 the fields are lines: a line feed in a name would forge the
 * fields after it.
 *
 * @throws {TypeError} These are checked when a vote is cast and when a listener is set, so this is a fault of
 *   the caller, never of the far end.
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
