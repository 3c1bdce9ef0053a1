import { Schema } from 'mongoose';
import type { Nested } from '../platform/document.ts';

/** `unknown` is not `offline` (design rule 7). */
export const STATUSES = ['online', 'offline', 'unknown'] as const;
export type ServerStatus = (typeof STATUSES)[number];

/** What checks found. */
const checkedState = {
  status: { type: String, enum: STATUSES, required: true },
  latencyMs: { type: Number, default: null },
  /** A failed probe counts too. */
  checkedAt: { type: Date, default: null },
  succeededAt: { type: Date, default: null },
  /** Failed checks in a row that count towards `offline`, including checks by hand. */
  failures: { type: Number, required: true },
  /** Counted since the last answer or edit. */
  failuresByHand: { type: Number, required: true },
  failingSince: { type: Date, default: null },
  /** Only an answer or an edit clears this; a period without checks does not. */
  offlineSince: { type: Date, default: null },
  /** Grows while a server is offline for long. */
  intervalSeconds: { type: Number, required: true },
} as const;

export const probeState = {
  ...checkedState,
  /** For a quick retry, or after an edit, this is before `scheduledAt`. */
  nextAt: { type: Date, required: true },
  /** The next probe is a quick retry or the first of a new or edited server. Urgent probes run first. */
  urgent: { type: Boolean, required: true },
  /** When the next scheduled probe is due. The sample of any other probe covers no time (see `planOfTake`). */
  scheduledAt: { type: Date, required: true },
  /** A new id for each take. Only the newest take may write a result. The name is that of version 0.1.0. */
  claim: { type: Schema.Types.UUID, default: null },
  /**
   * The sample of the taken probe covers so many seconds, until the next scheduled probe; 0 for a probe between two
   * scheduled ones.
   */
  claimSeconds: { type: Number, required: true },
  /** Incremented by every take, recorded check and reset, so that writers do not overwrite each other's changes. */
  revision: { type: Number, required: true },
} as const;

/** Of one of two addresses: `probe` and `current` are those of both together. */
export const addressState = {
  ...checkedState,
  /** Of the last answer; null if it hides them. */
  onlinePlayers: { type: Number, default: null },
} as const;

export type CheckedState = Nested<typeof checkedState>;
export type ProbeState = Nested<typeof probeState>;
export type AddressState = Nested<typeof addressState>;
