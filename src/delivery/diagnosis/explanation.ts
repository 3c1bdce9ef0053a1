/** An explanation of an outcome for a server's owner: one sentence each. */
export type Explanation = {
  /** What happened. */
  cause: string;
  /** What to do about it. */
  advice: string;
};
