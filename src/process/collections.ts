import type { Collection, Db } from 'mongodb';
import type { Schema } from 'mongoose';
import {
  type Credential,
  credentialSchema,
  type SecondFactor,
  type SignInSession,
  sessionSchema,
  twoFactorSchema,
  type User,
  userSchema,
  type Verification,
  verificationSchema,
} from '../accounts/user.ts';
import { type DailyStats, dailyStatsSchema } from '../history/daily-stats.ts';
import { type StatusSample, statusSampleSchema } from '../history/status-sample.ts';
import { type Listener, listenerSchema } from '../listeners/listener.ts';
import { type Mail, mailSchema } from '../mail/mail.ts';
import { type SentNotifications, sentNotificationsSchema } from '../notifications/sent-notifications.ts';
import { type AuditEntry, auditEntrySchema } from '../platform/audit/audit-log.ts';
import { type CheckAllowance, checkAllowanceSchema } from '../platform/limits/check-allowance.ts';
import { type RateLimit, rateLimitSchema } from '../platform/limits/rate-limit.ts';
import { type PeriodMark, periodMarkSchema } from '../platform/periods/period-mark.ts';
import { type WorkLease, workLeaseSchema } from '../platform/periods/work-lease-record.ts';
import { type RankSnapshot, rankSnapshotSchema } from '../ranking/rank-snapshot.ts';
import {
  type ListingSummary,
  listingSummarySchema,
  type RankedList,
  rankedListSchema,
} from '../ranking/ranked-list.ts';
import { type Review, type ReviewList, reviewListSchema, reviewSchema } from '../reviews/review.ts';
import { type ApiToken, apiTokenSchema } from '../servers/api-token.ts';
import { type Server, serverSchema } from '../servers/server.ts';
import { type ServerDraft, serverDraftSchema } from '../servers/server-draft.ts';
import { type IdempotencyKey, idempotencyKeySchema } from '../votes/idempotency-key.ts';
import { type Vote, voteSchema } from '../votes/vote.ts';
import { type VoteCounter, voteCounterSchema } from '../votes/vote-counter.ts';
import { type VoteExclusion, voteExclusionSchema } from '../votes/vote-exclusion.ts';

/** Every collection's schema, as `migrate` makes them and readiness checks them. */
export const SCHEMAS: Schema[] = [
  serverSchema,
  serverDraftSchema,
  apiTokenSchema,
  voteSchema,
  voteCounterSchema,
  voteExclusionSchema,
  idempotencyKeySchema,
  listenerSchema,
  checkAllowanceSchema,
  statusSampleSchema,
  dailyStatsSchema,
  periodMarkSchema,
  workLeaseSchema,
  rankSnapshotSchema,
  rankedListSchema,
  listingSummarySchema,
  reviewSchema,
  reviewListSchema,
  auditEntrySchema,
  rateLimitSchema,
  userSchema,
  sessionSchema,
  credentialSchema,
  verificationSchema,
  twoFactorSchema,
  mailSchema,
  sentNotificationsSchema,
];

/** The collections that features work on, each under the name by which features ask for it. */
export type Collections = {
  servers: Collection<Server>;
  serverDrafts: Collection<ServerDraft>;
  apiTokens: Collection<ApiToken>;
  votes: Collection<Vote>;
  voteCounters: Collection<VoteCounter>;
  voteExclusions: Collection<VoteExclusion>;
  idempotencyKeys: Collection<IdempotencyKey>;
  listeners: Collection<Listener>;
  diagnosisAllowances: Collection<CheckAllowance>;
  statusSamples: Collection<StatusSample>;
  dailyStats: Collection<DailyStats>;
  periodMarks: Collection<PeriodMark>;
  workLeases: Collection<WorkLease>;
  rankSnapshots: Collection<RankSnapshot>;
  rankedLists: Collection<RankedList>;
  listingSummary: Collection<ListingSummary>;
  reviews: Collection<Review>;
  reviewLists: Collection<ReviewList>;
  auditLog: Collection<AuditEntry>;
  rateLimits: Collection<RateLimit>;
  users: Collection<User>;
  sessions: Collection<SignInSession>;
  credentials: Collection<Credential>;
  verifications: Collection<Verification>;
  twoFactors: Collection<SecondFactor>;
  mails: Collection<Mail>;
  sentNotifications: Collection<SentNotifications>;
};

export function bindCollections(db: Db): Collections {
  return {
    servers: db.collection('servers'),
    serverDrafts: db.collection('server_drafts'),
    apiTokens: db.collection('api_tokens'),
    votes: db.collection('votes'),
    voteCounters: db.collection('vote_counters'),
    voteExclusions: db.collection('vote_exclusions'),
    idempotencyKeys: db.collection('idempotency_keys'),
    listeners: db.collection('listeners'),
    diagnosisAllowances: db.collection('diagnosis_allowances'),
    statusSamples: db.collection('status_samples'),
    dailyStats: db.collection('daily_stats'),
    periodMarks: db.collection('period_marks'),
    workLeases: db.collection('work_leases'),
    rankSnapshots: db.collection('rank_snapshots'),
    rankedLists: db.collection('ranked_lists'),
    listingSummary: db.collection('listing_summary'),
    reviews: db.collection('reviews'),
    reviewLists: db.collection('review_lists'),
    auditLog: db.collection('audit_log'),
    rateLimits: db.collection('rate_limits'),
    users: db.collection('people'),
    sessions: db.collection('sessions'),
    credentials: db.collection('credentials'),
    verifications: db.collection('verifications'),
    twoFactors: db.collection('two_factors'),
    mails: db.collection('mails'),
    sentNotifications: db.collection('listener_notices'),
  };
}
