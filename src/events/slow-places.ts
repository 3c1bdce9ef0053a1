/** How many slow or failing destinations a process serves at once, so that places are left for the quick ones. */
export class SlowPlaces {
  #free: number;

  constructor(places: number) {
    this.#free = places;
  }

  /** Whether there was one. It must be given back. */
  take(): boolean {
    if (this.#free === 0) return false;
    this.#free -= 1;
    return true;
  }

  giveBack(): void {
    this.#free += 1;
  }
}
