/** Why an attempt was started. The codes are stable: the database and `--json` output contain them. */
export const CAUSES = [
  'cast',
  /** The time of the vote's own retry has come. */
  'schedule',
  /** The listener refused the challenge of the previous attempt; one retry follows at once. */
  'challenge-retry',
  /** The previous attempt did not send the vote: Tallyport stopped, or a limit of connections was reached. */
  'given-back',
  'resend',
  /** An operator lifted the vote's quarantine. */
  'release',
  /** The planned test of an unreachable listener; `server-returned`: earlier, as the game server is online again. */
  'listener-test',
  'server-returned',
  /** The listener answered again. */
  'listener-back',
  'resume',
  'settings-changed',
] as const;
export type Cause = (typeof CAUSES)[number];
