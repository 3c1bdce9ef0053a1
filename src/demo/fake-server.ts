/** The status that a game server answers to a query. */
export type GameStatus = {
  /** The message: text, with § codes if the game supports them. */
  motd: string;
  version: string;
  /** The number of players online. */
  online: number;
  /** The number of player slots. */
  max: number;
  /** The icon as a data URL, if the game supports one. */
  icon?: string;
};

/** A fake game server for the demo and the tests. It listens on loopback by default. */
export type FakeServer = {
  /** The current or last port. */
  readonly port: number;
  /**
   * Starts to listen. After `stop` it uses the same port again.
   *
   * @param address.port - 0 or absent: the previous port, or a free one at the first start
   */
  start(address?: { port?: number; host?: string }): Promise<void>;
  /** Stops listening: the port refuses connections. */
  stop(): Promise<void>;
};
