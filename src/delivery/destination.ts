import { isUnverified, type Listener, type Proof } from '../listeners/listener.ts';
import type { Outcome } from '../listeners/outcomes.ts';
import { after, DAY } from '../platform/clock.ts';
import { type Limited, type OutgoingLimiting, takeConnection } from '../platform/limits/outgoing-limit.ts';

/** An address may be somebody else's after this long. */
const PROOF_VALID_MS = 7 * DAY;
/** A proof that is younger is not written anew at each acknowledgement. */
const PROOF_IS_FRESH_MS = DAY;
/** A name may have many addresses in turn. */
const MOST_PROOFS = 16;

/** What a destination asks of its listener. */
type Reached = Pick<Listener, 'protocol' | 'port' | 'proven' | 'lastDeliveredAt'>;

type About = {
  /** The owner of the listener's server; null where it is nobody's. */
  accountId: string | null;
  /** A test challenges an HTTP listener whatever it has proven. */
  isTest?: boolean;
};

/**
 * Where one attempt goes. It is asked before each connection is opened, and knows afterwards what the address that
 * was reached has proven.
 */
export class Destination {
  readonly #deps: OutgoingLimiting;
  readonly #listener: Reached;
  readonly #about: About;
  #address = '';
  #limited: Limited | null = null;
  #proof: Proof | null = null;

  constructor(deps: OutgoingLimiting, listener: Reached, about: About) {
    this.#deps = deps;
    this.#listener = listener;
    this.#about = about;
  }

  /** The address of the last connection that was asked for. */
  get address(): string {
    return this.#address;
  }

  /** Until when the first connection that was not authentications must wait; null where all were authentications. */
  get limited(): Limited | null {
    return this.#limited;
  }

  /** What this attempt has proven; null where that is nothing new. */
  get proof(): Proof | null {
    return this.#proof;
  }

  /**
   * Whether a connection to `address` may be opened now. Where the listener has proven itself, always.
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

  /** Whether the HTTP listener that was reached has to repeat a challenge before it is sent a vote. */
  get mustChallenge(): boolean {
    if (this.#about.isTest) return true;
    return this.#provenBy(this.#address) === null && !this.#isFromBefore();
  }

  /** The HTTP listener repeated the challenge. */
  challengeMet(): void {
    this.#prove('acknowledgement');
  }

  /** Takes note of the end of an attempt. */
  noteEnd({ code }: Outcome): void {
    const by = this.#provenBy(this.#address);
    if (this.#listener.protocol === 'http') {
      // One from before challenges: this address goes on without one, and no other.
      const goesWithout = by === 'greeting' || (by === null && this.#isFromBefore());
      if (code === 'acknowledged' && goesWithout) this.#prove('greeting');
      return;
    }
    if (code === 'acknowledged') this.#prove('acknowledgement');
    if (code === 'sent-not-confirmed' && by !== 'acknowledgement') this.#prove('greeting');
  }

  #prove(by: Proof['by']): void {
    const now = this.#deps.clock.now();
    const known = this.#proofAt(this.#address);
    const isFresh = known?.by === by && now < after(known.at, PROOF_IS_FRESH_MS);
    if (!isFresh) this.#proof = { address: this.#address, at: now, by };
  }

  #proofAt(address: string): Proof | undefined {
    return this.#listener.proven?.find((proof) => proof.address === address);
  }

  #provenBy(address: string): Proof['by'] | null {
    if (this.#proof?.address === address) return this.#proof.by;
    const proof = this.#proofAt(address);
    return proof && this.#deps.clock.now() < after(proof.at, PROOF_VALID_MS) ? proof.by : null;
  }

  /** An HTTP listener that took votes before challenges were asked for, and none since. */
  #isFromBefore(): boolean {
    const { protocol, proven } = this.#listener;
    return protocol === 'http' && !proven && !isUnverified(this.#listener);
  }
}

/** A listener's proofs with one more, the newest first. */
export function withProof(proven: Proof[] | undefined, proof: Proof): Proof[] {
  const others = (proven ?? []).filter(({ address }) => address !== proof.address);
  return [proof, ...others].slice(0, MOST_PROOFS);
}

/**
 * Whether a listener has ever acknowledged a vote or a challenge at its present place: the place is its owner's. A bare
 * close in Votifier v1 proves nothing, though the listener counts as one that has taken votes (`hasTakenVotes`).
 */
export function hasProvenAddress(proven: Proof[] | undefined): boolean {
  return proven?.some(({ by }) => by === 'acknowledgement') ?? false;
}

/**
 * What of an attempt's end a listener's owner may see. A service at an unproven place may be a stranger's. An unproven
 * website's owner sees the HTTP status only; any other unproven service's owner sees nothing, unless it greeted as
 * Votifier.
 */
export function shownToOwner(
  { protocol, proven }: { protocol: Listener['protocol']; proven: Proof[] | undefined },
  end: Outcome,
): Outcome {
  if (hasProvenAddress(proven)) return end;
  const { words, detail: _, ...rest } = end;
  if (protocol === 'http') {
    const status = /^HTTP \d{3}/.exec(words ?? '')?.[0];
    return status ? { ...rest, words: status } : rest;
  }
  const hasGreeted = ['greeted', 'written', 'acknowledged'].includes(end.reached);
  return hasGreeted ? end : rest;
}
