import type { Listener, ListenerProof } from '../listeners/listener.ts';
import { isUnverified } from '../listeners/listener-state.ts';
import type { Outcome } from '../listeners/outcomes.ts';
import { after, DAY } from '../platform/clock.ts';
import { type Limited, type OutgoingLimitDeps, takeConnection } from '../platform/limits/outgoing-limit.ts';

/** After this time the address may belong to somebody else, so the proof has expired. */
const CHALLENGE_VALID_MS = 7 * DAY;
/** If an acknowledgement proves an address again and the stored proof is younger than this, the stored one is kept. */
const CHALLENGE_IS_FRESH_MS = DAY;
/** A host name may have many addresses over time; only the newest proofs are stored. */
const MOST_CHALLENGES = 16;

/** The fields of a listener that a destination reads. */
type Reached = Pick<Listener, 'protocol' | 'port' | 'proven' | 'lastDeliveredAt'>;

type About = {
  /** The owner of the listener's server; null when it has none. */
  accountId: string | null;
  /** A test vote: an HTTP listener must repeat a challenge even if its address is proven. */
  isTest?: boolean;
};

/**
 * The destination of one attempt. Before each connection it decides whether the connection may be opened. After the
 * attempt it has the new proof of the reached address, if there is one.
 */
export class Destination {
  readonly #deps: OutgoingLimitDeps;
  readonly #listener: Reached;
  readonly #about: About;
  #address = '';
  #limited: Limited | null = null;
  #proof: ListenerProof | null = null;

  constructor(deps: OutgoingLimitDeps, listener: Reached, about: About) {
    this.#deps = deps;
    this.#listener = listener;
    this.#about = about;
  }

  /** The last address that `mayConnect` checked; empty before the first check. */
  get address(): string {
    return this.#address;
  }

  /** The first connection that was refused because of a limit, and until when; null when all were allowed. */
  get limited(): Limited | null {
    return this.#limited;
  }

  /** The new proof of this attempt; null when it proved nothing new. */
  get proof(): ListenerProof | null {
    return this.#proof;
  }

  /**
   * Whether a connection to `address` may be opened now. Always, if the listener is proven there.
   *
   * @throws the driver's error when MongoDB fails
   */
  readonly mayConnect = async (address: string): Promise<boolean> => {
    this.#address = address;
    if (this.#provenBy(address) === 'acknowledgement') return true;
    const { accountId } = this.#about;
    const { port } = this.#listener;
    const hasGreeted = this.#provenBy(address) === 'greeting' || this.#isFromBefore();
    const limited = await takeConnection(this.#deps, { address, port, accountId, hasGreeted });
    this.#limited ??= limited;
    return limited === null;
  };

  /** Whether the reached HTTP listener must repeat a challenge before it gets a vote. */
  get mustChallenge(): boolean {
    if (this.#about.isTest) return true;
    return this.#provenBy(this.#address) === null && !this.#isFromBefore();
  }

  /** The HTTP listener repeated the challenge. */
  challengeMet(): void {
    this.#prove('acknowledgement');
  }

  /** Records the outcome of an attempt. */
  onOutcome({ code }: Outcome): void {
    const by = this.#provenBy(this.#address);
    if (this.#listener.protocol === 'http') {
      // A listener that took votes before challenges existed goes on without a challenge, but only at this address.
      const goesWithout = by === 'greeting' || (by === null && this.#isFromBefore());
      if (code === 'acknowledged' && goesWithout) this.#prove('greeting');
      return;
    }
    if (code === 'acknowledged') this.#prove('acknowledgement');
    if (code === 'sent-not-confirmed' && by !== 'acknowledgement') this.#prove('greeting');
  }

  #prove(by: ListenerProof['by']): void {
    const now = this.#deps.clock.now();
    const known = this.#proofAt(this.#address);
    const isFresh = known?.by === by && now < after(known.at, CHALLENGE_IS_FRESH_MS);
    if (!isFresh) this.#proof = { address: this.#address, at: now, by };
  }

  #proofAt(address: string): ListenerProof | undefined {
    return this.#listener.proven?.find((proof) => proof.address === address);
  }

  #provenBy(address: string): ListenerProof['by'] | null {
    if (this.#proof?.address === address) return this.#proof.by;
    const proof = this.#proofAt(address);
    return proof && this.#deps.clock.now() < after(proof.at, CHALLENGE_VALID_MS) ? proof.by : null;
  }

  /** Whether it is an HTTP listener that took votes before challenges existed and has taken none since. */
  #isFromBefore(): boolean {
    const { protocol, proven } = this.#listener;
    return protocol === 'http' && !proven && !isUnverified(this.#listener);
  }
}

/** A listener's proofs with the new one, newest first; it replaces an older proof of the same address. */
export function withChallenge(proven: ListenerProof[] | undefined, proof: ListenerProof): ListenerProof[] {
  const others = (proven ?? []).filter(({ address }) => address !== proof.address);
  return [proof, ...others].slice(0, MOST_CHALLENGES);
}

/**
 * Whether a listener has acknowledged a vote or a challenge at its current address, which shows that the address is
 * its owner's. A Votifier v1 listener that only closes the connection proves nothing, although it counts as one that
 * has taken votes (`hasTakenVotes`).
 */
export function hasProvenAddress(proven: ListenerProof[] | undefined): boolean {
  return proven?.some(({ by }) => by === 'acknowledgement') ?? false;
}

/**
 * Removes from an outcome what the owner of a listener may not see: a service at an unproven address may belong to
 * somebody else. From an unproven website the owner sees only the HTTP status. From a service that did not send a
 * Votifier greeting they see no message and no detail.
 */
export function shownToOwner(
  { protocol, proven }: { protocol: Listener['protocol']; proven: ListenerProof[] | undefined },
  result: Outcome,
): Outcome {
  if (hasProvenAddress(proven)) return result;
  const { words, detail: _, ...rest } = result;
  if (protocol === 'http') {
    const status = /^HTTP \d{3}/.exec(words ?? '')?.[0];
    return status ? { ...rest, words: status } : rest;
  }
  const hasGreeted = ['greeted', 'written', 'acknowledged'].includes(result.reached);
  return hasGreeted ? result : rest;
}
