import { type InferRawDocType, Schema } from 'mongoose';
import type { Nested } from '../platform/document.ts';
import { LONGEST_REASON } from '../platform/text.ts';
import { addressState, probeState } from './checked-state.ts';
import { listingPauseFields } from './listing-pause.ts';
import { type Profile, profileSchema } from './profile.ts';

export { type ProbeState, type ServerStatus, STATUSES } from './checked-state.ts';

export const SOURCES = ['reports', 'probes'] as const;
export type Source = (typeof SOURCES)[number];

const currentFigures = {
  onlinePlayers: { type: Number, required: true, default: 0 },
  /** The server answers but hides its number of players, which is then 0. Absent in values of an older version. */
  playersHidden: { type: Boolean },
  maxPlayers: { type: Number, required: true, default: 0 },
  /** Absent in values of an older version. */
  playersSource: { type: String, enum: SOURCES },
  motd: { type: String, required: true, default: '' },
  version: { type: String, required: true, default: '' },
  /** The latency from reports; `probe` has that from probes. */
  reportedLatencyMs: { type: Number, default: null },
  /** A failed probe counts too. */
  checkedAt: { type: Date, default: null },
} as const;

/** If the result of a write is unknown, `id` shows whether the report was stored. */
const lastReport = {
  id: { type: Schema.Types.UUID, required: true },
  at: { type: Date, required: true },
} as const;

/** Figures computed once a day from the history (docs/architecture.md, "Periods and figures"). */
const dailyFigures = {
  averagePlayers: { type: Number, required: true, default: 0 },
  peakPlayers: { type: Number, required: true, default: 0 },
  averageLatency: { type: Number, default: null },
  uptimePercentage: { type: Number, default: null },
  /** The uptime from probes only. It decides the order of servers with votes of equal weight. */
  probedUptime: { type: Number, default: null },
  /** The average number of players on each of the last 7 days, oldest first; null if unknown. Absent until computed. */
  players: { type: [Number] },
  /** The usual players by probes (history/usual-players.ts). Absent until computed. */
  usualPlayers: { type: Number },
} as const;

const rankFigures = {
  /** The votes of today and the 29 UTC days before. */
  votesCount: { type: Number, required: true },
  probedUptime: { type: Number, default: null },
  /** The weighted sum of these votes (see ranking/evidence/). Absent when each of them counts in full. */
  rankVotes: { type: Number },
  /** Votes that do not count until an operator raises the allowance. Absent if there are none. */
  waiting: { type: Number },
} as const;

/** An operator's decision (see ranking/evidence/allow-votes.ts). */
const voteAllowance = {
  votes: { type: Number, required: true },
  reason: { type: String, required: true, maxlength: LONGEST_REASON },
  by: { type: String, required: true },
  at: { type: Date, required: true },
} as const;

/**
 * `message`: the server's message or name contained the owner's code. `dns`: a TXT record of its host contained it.
 * `operator`: an operator assigned the server to its owner.
 */
export const OWNERSHIP_PROOF_METHODS = ['message', 'dns', 'operator'] as const;
export type OwnershipProofMethod = (typeof OWNERSHIP_PROOF_METHODS)[number];

const proofDefinition = {
  method: { type: String, enum: OWNERSHIP_PROOF_METHODS, required: true },
  at: { type: Date, required: true },
} as const;

/** A transfer that has changed the owner, and whose other steps are not all done (see workflows/transfer-server.ts). */
const transferUnderWay = {
  auditId: { type: Schema.Types.ObjectId, required: true },
  at: { type: Date, required: true },
  from: { type: Schema.Types.ObjectId, default: null },
} as const;

/** Set if a probe found far more or fewer players than the report before it (see probing/players-differ.ts). */
const playersDiffer = {
  at: { type: Date, required: true },
  reported: { type: Number, required: true },
  probed: { type: Number, required: true },
} as const;

/** Set if a probe found many times the usual players (see probing/players-jump.ts). Operators see it for a week. */
const playersJumped = {
  at: { type: Date, required: true },
  players: { type: Number, required: true },
  usual: { type: Number, required: true },
} as const;

/** Set if a server has far more votes than players (see moderation/unusual-votes.ts). */
const unusualVotes = {
  /** The count covers the 24 hours before. */
  at: { type: Date, required: true },
  /** The token with most of these votes; absent if none of them came through the API. */
  tokenId: { type: Schema.Types.ObjectId },
  /** The votes of all tokens and of the vote form. */
  votes: { type: Number, required: true },
  /** The votes through the vote form, and with the token. Absent in flags of older versions. */
  web: { type: Number },
  ofToken: { type: Number },
  /** The highest recent number of players. Reported numbers count only up to a limit. */
  players: { type: Number, required: true },
} as const;

export const MEMBER_ROLES = ['full', 'read'] as const;
export type MemberRole = (typeof MEMBER_ROLES)[number];

/** Of the other edition of Minecraft (see games/editions.ts): what `probing/check-addresses.ts` asks too. */
const secondAddress = {
  address: { type: String, required: true, maxlength: 253 },
  port: { type: Number, required: true, min: 1, max: 65_535 },
  /** Absent when an operator set the address. */
  proof: { type: new Schema(proofDefinition, { _id: false }) },
  state: { type: new Schema(addressState, { _id: false }), required: true },
  /** The state of the first address alone. */
  firstState: { type: new Schema(addressState, { _id: false }), required: true },
} as const;

const memberDefinition = {
  userId: { type: Schema.Types.ObjectId, required: true },
  role: { type: String, enum: MEMBER_ROLES, required: true },
  at: { type: Date, required: true },
} as const;

const invitationDefinition = {
  email: { type: String, required: true, maxlength: 254 },
  role: { type: String, enum: MEMBER_ROLES, required: true },
  /** The e-mail address of the user who invited, at that time; or `AN_OPERATOR` (see actor-names.ts). */
  by: { type: String, required: true },
  /** Absent if `by` is `AN_OPERATOR`, and in invitations of older versions. */
  byId: { type: Schema.Types.ObjectId },
  at: { type: Date, required: true },
} as const;

const nested = { _id: false } as const;

const serverDefinition = {
  _id: { type: Schema.Types.ObjectId, required: true },
  name: { type: String, required: true, trim: true, minlength: 1, maxlength: 100 },
  slug: { type: String, required: true, match: /^[a-z0-9]+(-[a-z0-9]+)*$/ },
  /** All current and earlier ones. Earlier URLs of the page redirect to the current one. */
  slugs: { type: [String], required: true },
  address: { type: String, required: true, maxlength: 253 },
  port: { type: Number, required: true, min: 1, max: 65_535 },
  queryPort: { type: Number, default: null, min: 1, max: 65_535 },
  game: { type: String, default: null, maxlength: 50 },
  /** Absent if the server has one address. */
  second: { type: new Schema(secondAddress, nested) },
  countryCode: { type: String, default: null, match: /^[A-Z]{2}$/ },
  isPremium: { type: Boolean, required: true, default: false },
  /** Absent while nobody owns the server, as after an operator listed or imported it. */
  ownerId: { type: Schema.Types.ObjectId },
  /** Both absent until the first one. */
  members: { type: [new Schema(memberDefinition, nested)], default: undefined },
  invitations: { type: [new Schema(invitationDefinition, nested)], default: undefined },
  proof: { type: new Schema(proofDefinition, nested) },
  transfer: { type: new Schema(transferUnderWay, nested) },
  /** The owner's text for players about voting: plain text with line breaks. Absent until written. */
  howToVote: { type: String, maxlength: 8_000 },
  profile: { type: profileSchema },
  /** Of its vote goal; absent if it has none, so that its pages need not ask. */
  goalId: { type: Schema.Types.ObjectId },
  /** False when the owner switched the vote form off; absent otherwise. */
  webVotes: { type: Boolean },
  /** True when the vote form takes only SteamIDs that Steam confirmed; absent otherwise. */
  provenIdOnly: { type: Boolean },
  /** The prefix of names of Minecraft: Bedrock Edition. Empty: the server takes no such names. Absent: the default. */
  bedrockPrefix: { type: String, maxlength: 5 },
  /** Which further names the vote form takes. Absent if none. */
  playerNames: {
    type: new Schema(
      {
        offlineMode: { type: Boolean },
        /** Floodgate gives names of Bedrock Edition no prefix, or keeps their spaces. */
        bedrockPlain: { type: Boolean },
        bedrockSpaces: { type: Boolean },
      },
      nested,
    ),
  },
  /** The e-mail address of an imported server's owner, until a user with this address signs in. Not public. */
  ownerEmail: { type: String, maxlength: 254 },
  listedAt: { type: Date, required: true },
  /**
   * True from the listing by an owner until an operator accepts or hides the server, or it is removed. An operator can
   * set it again (`unacceptServers`).
   */
  isUnseen: { type: Boolean },
  /** Of the press that accepted it: only its undo sets `isUnseen` again. */
  acceptanceId: { type: Schema.Types.ObjectId },
  /** When the settings, the profile or its pictures last changed. Absent if only an older version changed them. */
  changedAt: { type: Date },
  removedAt: { type: Date, default: null },
  /** When an operator hid the server from the ranking and the public pages. Its API still works. */
  hiddenAt: { type: Date, default: null },
  hiddenReason: { type: String, maxlength: 500 },
  hiddenInternalReason: { type: String, maxlength: LONGEST_REASON },
  ...listingPauseFields,
  rankPosition: { type: Number, required: true, min: 1 },
  /** The figures of the newest ranking; null until the server's first ranking, and while the server is hidden. */
  ranked: { type: new Schema(rankFigures, nested), default: null },
  current: { type: new Schema(currentFigures, nested), required: true },
  daily: { type: new Schema(dailyFigures, nested), required: true },
  probe: { type: new Schema(probeState, nested), required: true },
  /** The time of the oldest report, imported ones too; 1970 if an early version received it. Absent without reports. */
  firstReportAt: { type: Date },
  /** All votes before this time have lost their player names (`KEEP_PLAYER_NAMES_MONTHS`). Absent if no vote has. */
  votesNamedSince: { type: Date },
  lastReport: { type: new Schema(lastReport, nested), default: null },
  playersDiffer: { type: new Schema(playersDiffer, nested) },
  playersJumped: { type: new Schema(playersJumped, nested) },
  /** When an operator decided that votes which wait in the ranking do not count. The inbox shows them again later. */
  waitingLeftAt: { type: Date },
  unusualVotes: { type: new Schema(unusualVotes, nested) },
  voteAllowance: { type: new Schema(voteAllowance, nested) },
} as const;

export const SERVER_NAMES = 'names';

/** Removal is soft: `_id` and `slugs` are never reused. */
export const serverSchema = new Schema(serverDefinition, { collection: 'servers' });
serverSchema.index({ slug: 1 }, { unique: true });
// Sparse, because a server that an older version listed has no `slugs` until `migrate` has run.
serverSchema.index({ slugs: 1 }, { unique: true, sparse: true });
serverSchema.index({ rankPosition: 1 });
serverSchema.index({ address: 1, port: 1, removedAt: 1 });
serverSchema.index({ ownerId: 1, removedAt: 1 }, { partialFilterExpression: { ownerId: { $exists: true } } });
// For the operators' search. It ignores case and accents of names; addresses are stored in lower case.
serverSchema.index({ name: 1, _id: 1 }, { name: SERVER_NAMES, collation: { locale: 'en', strength: 1 } });
serverSchema.index({ address: 1, _id: 1 });
serverSchema.index({ listedAt: -1, _id: -1 });
serverSchema.index({ hiddenAt: -1, _id: -1 }, { partialFilterExpression: { hiddenAt: { $type: 'date' } } });
serverSchema.index({ removedAt: -1, _id: -1 }, { partialFilterExpression: { removedAt: { $type: 'date' } } });
serverSchema.index(
  { isUnseen: 1, listedAt: -1, _id: -1 },
  { name: 'new_servers', partialFilterExpression: { isUnseen: true } },
);
// Without servers that have no game: they are never probed, and every search would read them.
serverSchema.index(
  { removedAt: 1, 'probe.nextAt': 1 },
  { name: 'due_probes', partialFilterExpression: { game: { $type: 'string' } } },
);
// Urgent probes are found fast even if many others are due.
serverSchema.index(
  { 'probe.nextAt': 1, removedAt: 1 },
  { name: 'urgent_probes', partialFilterExpression: { game: { $type: 'string' }, 'probe.urgent': true } },
);

// The filter compares times, because a query for a range of times cannot use an index that is filtered by type.
serverSchema.index(
  { 'probe.offlineSince': 1 },
  { partialFilterExpression: { 'probe.offlineSince': { $gt: new Date(0) } } },
);
serverSchema.index(
  { 'profile.tags': 1, rankPosition: 1 },
  { partialFilterExpression: { 'profile.tags': { $exists: true } } },
);
// Partial indexes, because few servers have these fields.
serverSchema.index(
  { 'second.address': 1, 'second.port': 1 },
  { partialFilterExpression: { 'second.address': { $exists: true } } },
);
for (const [field, order] of [
  ['ownerEmail', 1],
  ['members.userId', 1],
  ['invitations.email', 1],
  ['playersDiffer.at', -1],
  ['playersJumped.at', -1],
  ['unusualVotes.votes', -1],
  ['ranked.waiting', -1],
  ['listingPause.until', 1],
  ['profile.icon.picture', 1],
  ['profile.banner.wide', 1],
  ['profile.banner.narrow', 1],
] as const) {
  serverSchema.index({ [field]: order }, { partialFilterExpression: { [field]: { $exists: true } } });
}

export type Server = Omit<InferRawDocType<typeof serverDefinition>, 'profile'> & { profile?: Profile };
export type TransferUnderWay = Nested<typeof transferUnderWay>;
export type SecondAddress = NonNullable<Server['second']>;
