/** The part of gamedig 5.3.3 that we use; it brings no types of its own. */
declare module 'gamedig' {
  export type GameEntry = {
    name: string;
    options: {
      protocol: string;
      /** The usual port of players. */
      port?: number;
      /** The port of queries where players use the usual port. */
      port_query?: number;
      /** The port of queries less the port of players; several are tried in turn. */
      port_query_offset?: number | number[];
    };
    extra?: { old_id?: string };
  };
  export const games: Record<string, GameEntry>;

  /** What a protocol makes of an answer: whatever the far end said, so nothing here is sure but the names. */
  export type Results = {
    name?: unknown;
    version?: unknown;
    numplayers?: unknown;
    maxplayers?: unknown;
    players?: unknown;
    raw?: unknown;
  };

  /** lib/reader.js: reads on after the end as if there were zeros. */
  export type Reader = {
    string(how?: unknown): string;
    uint(bytes: number): unknown;
    done(): boolean;
  };

  /** protocols/core.js: the methods through which every protocol speaks to the network. */
  export type Protocol = {
    options: Record<string, unknown>;
    abortedPromise: Promise<never>;
    runOnce(): Promise<Results>;
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
    /** mumble: takes HTML out of comments. */
    cleanComment?(text: string): string;
    /** battlefield: one command and its words. */
    query?(socket: unknown, words: string[]): Promise<unknown>;
    /** valve and its kin: a split reply is in GoldSrc's form. */
    goldsrcSplits?: boolean;
  };
  export const protocols: Record<string, new () => Protocol>;

  export class GameDig {
    query(options: Record<string, unknown>): Promise<Results>;
  }
}
