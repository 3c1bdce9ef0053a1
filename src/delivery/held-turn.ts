import type { Listener } from './listener.ts';
import { turnOf, type UnprovenPlaces } from './turn.ts';

/**
 * One drain's turn among all that a worker makes: at once where its listener answers; where that is not known, in
 * one of the places for such, and with little work on MongoDB at a time.
 */
export class HeldTurn {
  readonly #places: UnprovenPlaces | undefined;
  readonly #standing: () => Listener;
  /** It may make attempts, and has one of the places. */
  #admitted = false;
  #hasPlace = false;
  #admittedAt = 0;
  /** Lets the work of other listeners go on at its full breadth again. */
  readonly #wayMade: (() => void) | undefined;

  /** @param standing - how the listener stands by now */
  constructor(places: UnprovenPlaces | undefined, standing: () => Listener) {
    this.#places = places;
    this.#standing = standing;
    if (this.#turn() === 0) this.#wayMade = places?.makeWay();
  }

  #turn(): number {
    return turnOf(this.#standing());
  }

  /** The listener took votes and has not failed since. */
  get isFirst(): boolean {
    return this.#turn() === 0;
  }

  /** Works on MongoDB: at once for a listener that answers, few at a time for all others. */
  inTurn<T>(work: () => Promise<T>): Promise<T> {
    return this.#places && this.#turn() > 0 ? this.#places.aside(work) : work();
  }

  /** Whether attempts may be made: a listener that is not known to answer needs a place for such. */
  mayBegin(): boolean {
    const turn = this.#turn();
    if (!this.#admitted && this.#places && turn > 0) this.#hasPlace = this.#places.take(turn);
    this.#admitted ||= this.#hasPlace || !this.#places || turn === 0;
    if (this.#admittedAt === 0) this.#admittedAt = performance.now();
    return this.#admitted;
  }

  /** It took a vote: its place is for others. */
  isProven(): void {
    if (this.#hasPlace) this.#places?.free(performance.now() - this.#admittedAt);
    this.#hasPlace = false;
  }

  /** How long from `now`, in milliseconds, one that found no place should stay away. */
  stayAwayMs(now: Date): number {
    return this.#places?.stayAwayMs(now.getTime()) ?? 0;
  }

  /** Nothing is under way any more. */
  end(): void {
    this.#wayMade?.();
    this.isProven();
  }
}
