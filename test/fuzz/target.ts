/** A parser that reads a stranger's bytes. */
export type Target = {
  name: string;
  /** Inputs as real peers send them, from which others are made. */
  seeds: Buffer[];
  parse(input: Buffer): unknown;
  /** Whether an error is of the type that the parser documents. */
  isOwnError(error: unknown): boolean;
  /** What is repeated to see how the time grows: `piece` between `before` and `behind`, in Latin-1. */
  repeated: { before?: string; piece: string; behind?: string }[];
};
