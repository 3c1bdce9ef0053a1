const MOST_SERVERS = 10_000;

/**
 * Servers that answered like Minecraft 1.6 or earlier, or not validly: their next query begins with the list ping.
 * CraftBukkit up to 1.6 closes a second connection within 4 seconds, so a ping after a status request would fail.
 */
export class OldServers {
  readonly #servers = new Set<string>();

  /** `where`: host and port. */
  has(where: string): boolean {
    return this.#servers.has(where);
  }

  /** If there are too many, the oldest is forgotten. */
  add(where: string): void {
    this.#servers.delete(where);
    this.#servers.add(where);
    const [first] = this.#servers;
    if (this.#servers.size > MOST_SERVERS && first !== undefined) this.#servers.delete(first);
  }

  delete(where: string): void {
    this.#servers.delete(where);
  }
}
