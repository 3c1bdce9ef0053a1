import type { Text } from '../../language/t.ts';

/** An explanation of an outcome for a server's owner: one sentence each. */
export type Explanation = {
  /** What happened. */
  cause: Text;
  /** What to do about it. */
  advice: Text;
};
