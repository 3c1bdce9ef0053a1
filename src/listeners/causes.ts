/**
 * Why an attempt was started. The codes are stable: the database and `--json` output contain them.
 *
 * - `cast`: the vote was just cast.
 * - `schedule`: the time of the vote's own retry has come.
 * - `challenge-retry`: the listener refused the challenge of the previous attempt; one retry follows at once.
 * - `given-back`: the previous attempt did not send the vote, because Tallyport stopped or a limit of connections was
 *   reached.
 * - `resend`: somebody sent the vote again.
 * - `release`: an operator lifted the vote's quarantine.
 * - `listener-test`: the planned test of an unreachable listener.
 * - `server-returned`: a test before its planned time, because the game server is online again.
 * - `listener-back`: the listener answered again.
 * - `resume`: somebody resumed the listener.
 * - `settings-changed`: somebody changed the listener's settings.
 */
export const CAUSES = [
  'cast',
  'schedule',
  'challenge-retry',
  'given-back',
  'resend',
  'release',
  'listener-test',
  'server-returned',
  'listener-back',
  'resume',
  'settings-changed',
] as const;
export type Cause = (typeof CAUSES)[number];
