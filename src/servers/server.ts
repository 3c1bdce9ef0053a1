import { type InferRawDocType, Schema } from 'mongoose';
import type { Nested } from '../platform/document.ts';

/** What is known of a server's being there: `unknown` is not `offline` (design rule 7). */
export const STATUSES = ['online', 'offline', 'unknown'] as const;
export type ServerStatus = (typeof STATUSES)[number];

/** Who is believed about a server: its own reports, or our probes. */
export const SOURCES = ['reports', 'probes'] as const;
export type Source = (typeof SOURCES)[number];

/** What a server last said of itself, by a report or a probe: the newest of any source. */
const currentFigures = {
  onlinePlayers: { type: Number, required: true, default: 0 },
  maxPlayers: { type: Number, required: true, default: 0 },
  /** Who said how many players there are. Absent in figures that an older version stored. */
  playersSource: { type: String, enum: SOURCES },
  motd: { type: String, required: true, default: '' },
  version: { type: String, required: true, default: '' },
  /** What reports say of the latency; a probe's own stands in `probe`. */
  reportedLatencyMs: { type: Number, default: null },
  /** The newest probe, failed ones too, or report. */
  checkedAt: { type: Date, default: null },
} as const;

/** How our own probes of a server stand. */
const probeState = {
  status: { type: String, enum: STATUSES, required: true },
  /** Of the newest successful probe. */
  latencyMs: { type: Number, default: null },
  /** The newest probe that ended, failed ones too. */
  checkedAt: { type: Date, default: null },
  /** The newest probe that was answered. */
  succeededAt: { type: Date, default: null },
  /** Failed checks in a row that count towards `offline`, those by hand among them, and the first of all. */
  failures: { type: Number, required: true },
  failuresByHand: { type: Number, required: true },
  failingSince: { type: Date, default: null },
  /** When it was found offline; only an answer or an edit ends that, not a time in which nothing was known of it. */
  offlineSince: { type: Date, default: null },
  /** The present interval: longer while a server is long offline. */
  intervalSeconds: { type: Number, required: true },
  /** When the scheduler claims it next: before `scheduledAt` for a quick retry or after an edit. */
  nextAt: { type: Date, required: true },
  /** Whether that is the first probe of a new or edited server, or a quick retry: these go before the others. */
  urgent: { type: Boolean, required: true },
  /** When the next scheduled probe is due, whose sample carries seconds. */
  scheduledAt: { type: Date, required: true },
  /** Who may write the end of the probe under way: a later claim takes it over. */
  claim: { type: Schema.Types.UUID, default: null },
  /** The seconds that the sample of the claimed probe carries: 0 for one between the scheduled ones. */
  claimSeconds: { type: Number, required: true },
  /** Grows with every recorded check and every edit, so that two writers never lose each other's count. */
  revision: { type: Number, required: true },
} as const;

/** The newest report: its time opens the next window, its id tells a resent update from another one. */
const lastReport = {
  id: { type: Schema.Types.UUID, required: true },
  at: { type: Date, required: true },
} as const;

/** Figures computed once a day from the history (design, "Periods and figures"). */
const dailyFigures = {
  averagePlayers: { type: Number, required: true, default: 0 },
  peakPlayers: { type: Number, required: true, default: 0 },
  averageLatency: { type: Number, default: null },
  uptimePercentage: { type: Number, default: null },
  /** The uptime by our own probes alone, whatever the source: the ranking's second figure. */
  probedUptime: { type: Number, default: null },
  /** Players on average on each of the 7 days, oldest first, null where nothing is known; absent until computed. */
  players: { type: [Number] },
} as const;

/** The figures that gave a server its place, of the ranking that gave it. */
const rankFigures = {
  /** Today's votes and those of the 29 UTC days before. */
  votesCount: { type: Number, required: true },
  probedUptime: { type: Number, default: null },
} as const;

/**
 * - `message`: the server showed the code that its owner was given, in its message or name.
 * - `dns`: a TXT record of its host held the code.
 * - `operator`: an operator gave it to its owner.
 */
export const PROOF_METHODS = ['message', 'dns', 'operator'] as const;
export type ProofMethod = (typeof PROOF_METHODS)[number];

const proofDefinition = {
  method: { type: String, enum: PROOF_METHODS, required: true },
  at: { type: Date, required: true },
} as const;

/** A probe that found far more or fewer players than the report before it (see probing/players-differ.ts). */
const playersDiffer = {
  at: { type: Date, required: true },
  reported: { type: Number, required: true },
  probed: { type: Number, required: true },
} as const;

/** Far more votes than the server has players (see attention/unusual-votes.ts). */
const unusualVotes = {
  /** When it was counted; the votes are those of the 24 h before. */
  at: { type: Date, required: true },
  /** The token that cast most of them. */
  tokenId: { type: Schema.Types.ObjectId, required: true },
  /** Of all tokens together. */
  votes: { type: Number, required: true },
  /** The most players that the server has had lately, as far as that is believed. */
  players: { type: Number, required: true },
} as const;

const nested = { _id: false } as const;

const serverDefinition = {
  _id: { type: Schema.Types.ObjectId, required: true },
  name: { type: String, required: true, trim: true, minlength: 1, maxlength: 100 },
  slug: { type: String, required: true, match: /^[a-z0-9]+(-[a-z0-9]+)*$/ },
  /** Every slug that it has had, the present one among them: its page's earlier addresses lead to it. */
  slugs: { type: [String], required: true },
  address: { type: String, required: true, maxlength: 253 },
  port: { type: Number, required: true, min: 1, max: 65_535 },
  queryPort: { type: Number, default: null, min: 1, max: 65_535 },
  game: { type: String, default: null, maxlength: 50 },
  countryCode: { type: String, default: null, match: /^[A-Z]{2}$/ },
  isPremium: { type: Boolean, required: true, default: false },
  /** The user it belongs to; absent for one that an operator listed for nobody. */
  ownerId: { type: Schema.Types.ObjectId },
  /** How its owner proved that it is theirs; absent for one that was never proved. */
  proof: { type: new Schema(proofDefinition, nested) },
  /** What the owner tells players about voting: plain text with line breaks. Absent until written. */
  howToVote: { type: String, maxlength: 8_000 },
  /** Whom an imported server belongs to, until somebody signs in with this address. Not public. */
  ownerEmail: { type: String, maxlength: 254 },
  listedAt: { type: Date, required: true },
  removedAt: { type: Date, default: null },
  /** An operator took it off the ranking and the public lists then; its API goes on. */
  hiddenAt: { type: Date, default: null },
  /** Why, in words for its owner. */
  hiddenReason: { type: String, maxlength: 500 },
  rankPosition: { type: Number, required: true, min: 1 },
  /** null until the first ranking after the listing. */
  ranked: { type: new Schema(rankFigures, nested), default: null },
  current: { type: new Schema(currentFigures, nested), required: true },
  daily: { type: new Schema(dailyFigures, nested), required: true },
  probe: { type: new Schema(probeState, nested), required: true },
  /** The first report of all, imported ones too; absent before it. Before it no reports need be looked for. */
  firstReportAt: { type: Date },
  lastReport: { type: new Schema(lastReport, nested), default: null },
  playersDiffer: { type: new Schema(playersDiffer, nested) },
  unusualVotes: { type: new Schema(unusualVotes, nested) },
} as const;

/** The index of names, which compares in any case and with any accents. */
export const SERVER_NAMES = 'names';

/** A listed game server. Removal is soft: `_id` and `slugs` are never used again. */
export const serverSchema = new Schema(serverDefinition, { collection: 'servers' });
serverSchema.index({ slug: 1 }, { unique: true });
// Whoever had a slug keeps it. Sparse: a server of an older version has none until `migrate` has run.
serverSchema.index({ slugs: 1 }, { unique: true, sparse: true });
serverSchema.index({ rankPosition: 1 });
serverSchema.index({ address: 1, port: 1, removedAt: 1 });
serverSchema.index({ ownerId: 1, removedAt: 1 }, { partialFilterExpression: { ownerId: { $exists: true } } });
serverSchema.index({ ownerEmail: 1 }, { partialFilterExpression: { ownerEmail: { $exists: true } } });
// What operators look for. Names in any case and with any accents; addresses are kept in lower case.
serverSchema.index({ name: 1, _id: 1 }, { name: SERVER_NAMES, collation: { locale: 'en', strength: 1 } });
serverSchema.index({ address: 1, _id: 1 });
serverSchema.index({ listedAt: -1, _id: -1 });
serverSchema.index({ hiddenAt: -1, _id: -1 }, { partialFilterExpression: { hiddenAt: { $type: 'date' } } });
serverSchema.index({ removedAt: -1, _id: -1 }, { partialFilterExpression: { removedAt: { $type: 'date' } } });
// What asks for an operator's attention: few.
serverSchema.index(
  { 'playersDiffer.at': -1 },
  { partialFilterExpression: { 'playersDiffer.at': { $exists: true } } },
);
serverSchema.index(
  { 'unusualVotes.votes': -1 },
  { partialFilterExpression: { 'unusualVotes.votes': { $exists: true } } },
);
// Of the servers that can be probed only: the others would be due for ever, and read in every round.
serverSchema.index(
  { removedAt: 1, 'probe.nextAt': 1 },
  { name: 'due_probes', partialFilterExpression: { game: { $type: 'string' } } },
);
// Few at a time, so that they are found whatever else is due.
serverSchema.index(
  { 'probe.nextAt': 1, removedAt: 1 },
  { name: 'urgent_probes', partialFilterExpression: { game: { $type: 'string' }, 'probe.urgent': true } },
);

export type Server = InferRawDocType<typeof serverDefinition>;
export type ProbeState = Nested<typeof probeState>;
