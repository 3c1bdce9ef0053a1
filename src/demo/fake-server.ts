/** What a game server says of itself when it is asked. */
export type Said = {
  /** The greeting: text, with § codes where the game knows them. */
  motd: string;
  version: string;
  /** Players that are on it. */
  online: number;
  /** Players that it has places for. */
  max: number;
};

/** What stands in for a game server, in the demo and in tests. It listens on loopback unless told otherwise. */
export type FakeServer = {
  /** The port it listens on, or did last. */
  readonly port: number;
  /**
   * Starts to listen; after `stop` on the same port again.
   *
   * @param address.port - 0 or left out: the port it had before, or else a free one
   */
  start(address?: { port?: number; host?: string }): Promise<void>;
  /** From now on the port refuses. */
  stop(): Promise<void>;
};
