import type { Listener, ListenerProof } from '../listeners/listener.ts';
import { isUnverified } from '../listeners/listener-state.ts';
import type { Outcome } from '../listeners/outcomes.ts';
import { after, DAY } from '../platform/clock.ts';
import { type Limited, type OutgoingLimitDeps, takeConnection } from '../platform/limits/outgoing-limit.ts';

/** A proof expires: the address may belong to somebody else by then. */
const PROOF_VALID_MS = 7 * DAY;
/** While the stored proof is younger, no new one of the same kind is stored. */
const PROOF_IS_FRESH_MS = DAY;
/** A listener's host name may have many addresses over time. */
const MOST_PROOFS = 16;

type Reached = Pick<Listener, 'protocol' | 'port' | 'proven' | 'lastDeliveredAt'>;

type About = {
  /** The owner of the listener's server. */
  accountId: string | null;
  /** True for a test vote: an HTTP listener must repeat a challenge even if its address is proven. */
  isTest?: boolean;
};

/** The destination of one attempt: whether its connections may be opened (docs/adr/0020-outgoing-limits.md). */
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

  /** The first limit that refused a connection, and until when. */
  get limited(): Limited | null {
    return this.#limited;
  }

  /** Set if the attempt proves the listener's address and no fresh proof of it is stored. */
  get proof(): ListenerProof | null {
    return this.#proof;
  }

  /** Whether a connection may be opened now. If an acknowledgement proved this address, there is no limit. */
  readonly mayConnect = async (address: string): Promise<boolean> => {
    this.#address = address;
    if (this.#provenBy(address) === 'acknowledgement') return true;
    const { accountId } = this.#about;
    const { port } = this.#listener;
    const isProvenByGreeting = this.#provenBy(address) === 'greeting' || this.#isFromBefore();
    const limited = await takeConnection(this.#deps, { address, port, accountId, isProvenByGreeting });
    this.#limited ??= limited;
    return limited === null;
  };

  /** Whether the reached HTTP listener must repeat a challenge before it gets a vote. */
  get mustChallenge(): boolean {
    if (this.#about.isTest) return true;
    return this.#provenBy(this.#address) === null && !this.#isFromBefore();
  }

  challengeMet(): void {
    this.#prove('acknowledgement');
  }

  onOutcome({ code }: Outcome): void {
    const by = this.#provenBy(this.#address);
    if (this.#listener.protocol === 'http') {
      // If the listener took votes before challenges existed, its present address needs no challenge; any later one
      // does.
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
    const isFresh = known?.by === by && now < after(known.at, PROOF_IS_FRESH_MS);
    if (!isFresh) this.#proof = { address: this.#address, at: now, by };
  }

  #proofAt(address: string): ListenerProof | undefined {
    return this.#listener.proven?.find((proof) => proof.address === address);
  }

  #provenBy(address: string): ListenerProof['by'] | null {
    if (this.#proof?.address === address) return this.#proof.by;
    const proof = this.#proofAt(address);
    return proof && this.#deps.clock.now() < after(proof.at, PROOF_VALID_MS) ? proof.by : null;
  }

  /** Whether the listener is an HTTP listener that took votes before challenges existed and has taken none since. */
  #isFromBefore(): boolean {
    const { protocol, proven } = this.#listener;
    return protocol === 'http' && !proven && !isUnverified(this.#listener);
  }
}

/** Newest first; an older proof of the same address is replaced. */
export function withListenerProof(proven: ListenerProof[] | undefined, proof: ListenerProof) {
  const others = (proven ?? []).filter(({ address }) => address !== proof.address);
  return [proof, ...others].slice(0, MOST_PROOFS);
}

/**
 * Removes from an outcome what an owner may not see. Until the listener has acknowledged a vote or a challenge, the
 * service may be somebody else's: the owner sees only a website's status, and nothing if it did not greet as Votifier.
 */
export function shownToOwner(
  { protocol, proven }: { protocol: Listener['protocol']; proven: ListenerProof[] | undefined },
  result: Outcome,
): Outcome {
  if (proven?.some(({ by }) => by === 'acknowledgement')) return result;
  const { words, detail: _, ...rest } = result;
  if (protocol === 'http') {
    const status = /^HTTP \d{3}/.exec(words ?? '')?.[0];
    return status ? { ...rest, words: status } : rest;
  }
  const hasGreeted = ['greeted', 'written', 'acknowledged'].includes(result.reached);
  return hasGreeted ? result : rest;
}
