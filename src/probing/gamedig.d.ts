/** What Tallyport uses of gamedig 5.3.3, which has no types. */
declare module 'gamedig' {
  export type GameEntry = {
    name: string;
    options: {
      protocol: string;
      /** The port at which players connect. */
      port?: number;
      /** The query port if players use the usual port. */
      port_query?: number;
      /** The query port minus the players' port; several are tried in order. */
      port_query_offset?: number | number[];
    };
    extra?: { old_id?: string };
  };
  export const games: Record<string, GameEntry>;

  /** The values come from the server unchecked. */
  export type Results = {
    name?: unknown;
    version?: unknown;
    numplayers?: unknown;
    maxplayers?: unknown;
    players?: unknown;
    bots?: unknown;
    raw?: unknown;
  };

  /** gamedig's lib/reader.js. After the end of the data it returns zeros. */
  export type Reader = {
    string(how?: unknown): string;
    uint(bytes: number): unknown;
    done(): boolean;
  };

  /** gamedig's protocols/core.js: the network methods of every protocol. */
  export type Protocol = {
    options: Record<string, unknown>;
    abortedPromise: Promise<never>;
    runOnce(): Promise<Results>;
    /** Called by `runOnce` with the results to fill. */
    run(results: Results): Promise<void>;
    udpSend(
      bytes: Buffer | string,
      onPacket?: (bytes: Buffer) => unknown,
      onTimeout?: () => unknown,
    ): Promise<unknown>;
    withTcp(talk: (socket: unknown) => unknown, port?: number): Promise<unknown>;
    tcpSend(socket: unknown, bytes: Buffer | string, onData: (bytes: Buffer) => unknown): Promise<unknown>;
    request(request: unknown): Promise<unknown>;
    telnetConnect(): Promise<void>;
    reader(bytes: Buffer): Reader;
    /** mumble: removes HTML from comments. */
    cleanComment?(text: string): string;
    /** battlefield: sends a command and returns the words of the answer. */
    query?(socket: unknown, words: string[]): Promise<unknown>;
    /** valve and derived protocols: whether a split reply has GoldSrc's format. */
    goldsrcSplits?: boolean;
  };
  export const protocols: Record<string, new () => Protocol>;

  export class GameDig {
    query(options: Record<string, unknown>): Promise<Results>;
  }
}
