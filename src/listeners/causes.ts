/**
 * Why an attempt was started: what its vote had last waited for. The codes are stable: they stand in the database
 * and in `--json` output.
 *
 * - `cast`: nothing; it was just cast.
 * - `schedule`: its own next time.
 * - `challenge-retry`: nothing; the attempt before was refused its challenge and is repeated once.
 * - `given-back`: a worker again; the attempt before was given back because of a stop of ours.
 * - `resend`: somebody sent it again.
 * - `listener-test`: the planned test of an unreachable listener.
 * - `server-returned`: that test, brought forward because the game server was seen again.
 * - `listener-back`: a listener that answered again.
 * - `resume`: somebody resumed the listener.
 * - `settings-changed`: somebody changed the listener's settings.
 */
export const CAUSES = [
  'cast',
  'schedule',
  'challenge-retry',
  'given-back',
  'resend',
  'listener-test',
  'server-returned',
  'listener-back',
  'resume',
  'settings-changed',
] as const;
export type Cause = (typeof CAUSES)[number];
