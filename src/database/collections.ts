import type { Collection } from 'mongodb';
import type { Model, Schema } from 'mongoose';
import { type AddressChange, addressChangeSchema } from '../accounts/address/address-change.ts';
import { type AccountDeletion, accountDeletionSchema } from '../accounts/deletion/account-deletion.ts';
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
import { type DeliveryDay, deliveryDaySchema } from '../delivery/figures/delivery-day.ts';
import { type AttemptLog, attemptLogSchema } from '../events/attempt-log.ts';
import { eventSchema, type StoredEvent } from '../events/event.ts';
import { type LiveMessage, liveMessageSchema } from '../events/live-status/live-message.ts';
import { type VoteWatch, voteWatchSchema } from '../events/sources/vote-watch.ts';
import { type Subscription, subscriptionSchema } from '../events/subscription.ts';
import { type FavouriteList, favouriteListSchema } from '../favourites/favourite-list.ts';
import { type GoalRound, goalRoundSchema, type VoteGoal, voteGoalSchema } from '../goals/goal.ts';
import { type DailyStats, dailyStatsSchema } from '../history/daily-stats.ts';
import { type StatusSample, statusSampleSchema } from '../history/status-sample.ts';
import { type Listener, listenerSchema } from '../listeners/listener.ts';
import { type Mail, mailSchema } from '../mail/mail.ts';
import { type Announcement, announcementSchema } from '../moderation/announcement.ts';
import { type Complaint, complaintSchema } from '../moderation/complaint.ts';
import {
  type SentNotifications,
  type ServerNotices,
  sentNotificationsSchema,
  serverNoticesSchema,
} from '../notifications/sent-notifications.ts';
import { type AuditEntry, auditEntrySchema } from '../platform/audit/audit-log.ts';
import { type CheckAllowance, checkAllowanceSchema } from '../platform/limits/check-allowance.ts';
import { type RateLimit, rateLimitSchema } from '../platform/limits/rate-limit.ts';
import type { Mongo } from '../platform/mongo.ts';
import { type PeriodMark, periodMarkSchema } from '../platform/periods/period-marks.ts';
import { type WorkLease, workLeaseSchema } from '../platform/periods/work-lease.ts';
import { type RunningProcess, runningProcessSchema } from '../platform/processes/running-process.ts';
import { type RankSnapshot, rankSnapshotSchema } from '../ranking/rank-snapshot.ts';
import {
  listingSummarySchema,
  type RankedList,
  rankedListSchema,
  type StoredListingSummary,
} from '../ranking/ranked-list.ts';
import { type MailReminder, mailReminderSchema } from '../reminders/mail-reminder.ts';
import { type PushKey, pushKeySchema } from '../reminders/push-key.ts';
import { type Reminder, reminderSchema } from '../reminders/reminder.ts';
import { type Review, type ReviewList, reviewListSchema, reviewSchema } from '../reviews/review.ts';
import { type ApiToken, apiTokenSchema } from '../servers/api-token.ts';
import { bannerPictureSchema, type DrawnPicture, previewCardSchema } from '../servers/drawn-picture.ts';
import { type Picture, type PictureUpload, pictureSchema, pictureUploadSchema } from '../servers/picture.ts';
import { type Server, serverSchema } from '../servers/server.ts';
import { type ServerDraft, serverDraftSchema } from '../servers/server-draft.ts';
import { type TagList, tagListSchema } from '../servers/tag-list.ts';
import { type LogoUpload, logoUploadSchema } from '../settings/logo-upload.ts';
import { type ClosedStep, closedStepSchema } from '../settings/set-up-step.ts';
import { type StoredSettings, storedSettingsSchema } from '../settings/stored-settings.ts';
import { type Block, blockSchema } from '../votes/blocks/block-list.ts';
import { type IdempotencyKey, idempotencyKeySchema } from '../votes/cast/cast-once.ts';
import { type ImportMark, importMarkSchema } from '../votes/cast/imported-cooldowns.ts';
import { type VoteExclusion, voteExclusionSchema } from '../votes/exclusions/vote-exclusion.ts';
import { type Vote, voteSchema } from '../votes/vote.ts';
import { type VoteCounter, voteCounterSchema } from '../votes/vote-counter.ts';
import { type UsedProofOfWork, usedProofOfWorkSchema } from '../votes/web/proof-of-work.ts';
import { type ReturningPlayer, returningPlayerSchema } from '../votes/web/returning-players.ts';
import { type VoteOrigin, voteOriginSchema } from '../votes/web/vote-origin.ts';
import { type SiteFigures, siteFiguresSchema } from '../workflows/figures/site-figures.ts';
import { type AppliedMigration, appliedMigrationSchema } from './applied-migration.ts';
import { type RestoreRecord, restoreRecordSchema } from './restore-record.ts';

/** `document` is never set: it tells the compiler the type of the documents. */
type ModelDefinition<T extends object> = { name: string; schema: Schema; document?: T };

function define<T extends object>(name: string, schema: Schema): ModelDefinition<T> {
  return { name, schema };
}

const MODELS = {
  servers: define<Server>('Server', serverSchema),
  pictures: define<Picture>('Picture', pictureSchema),
  pictureUploads: define<PictureUpload>('PictureUpload', pictureUploadSchema),
  previewCards: define<DrawnPicture>('PreviewCard', previewCardSchema),
  bannerPictures: define<DrawnPicture>('BannerPicture', bannerPictureSchema),
  tagLists: define<TagList>('TagList', tagListSchema),
  serverDrafts: define<ServerDraft>('ServerDraft', serverDraftSchema),
  apiTokens: define<ApiToken>('ApiToken', apiTokenSchema),
  votes: define<Vote>('Vote', voteSchema),
  voteCounters: define<VoteCounter>('VoteCounter', voteCounterSchema),
  voteExclusions: define<VoteExclusion>('VoteExclusion', voteExclusionSchema),
  restores: define<RestoreRecord>('RestoreRecord', restoreRecordSchema),
  announcements: define<Announcement>('Announcement', announcementSchema),
  settings: define<StoredSettings>('StoredSettings', storedSettingsSchema),
  logoUploads: define<LogoUpload>('LogoUpload', logoUploadSchema),
  blocks: define<Block>('Block', blockSchema),
  complaints: define<Complaint>('Complaint', complaintSchema),
  usedProofs: define<UsedProofOfWork>('UsedProofOfWork', usedProofOfWorkSchema),
  voteOrigins: define<VoteOrigin>('VoteOrigin', voteOriginSchema),
  returningPlayers: define<ReturningPlayer>('ReturningPlayer', returningPlayerSchema),
  idempotencyKeys: define<IdempotencyKey>('IdempotencyKey', idempotencyKeySchema),
  listeners: define<Listener>('Listener', listenerSchema),
  diagnosisAllowances: define<CheckAllowance>('CheckAllowance', checkAllowanceSchema),
  statusSamples: define<StatusSample>('StatusSample', statusSampleSchema),
  dailyStats: define<DailyStats>('DailyStats', dailyStatsSchema),
  setUpSteps: define<ClosedStep>('ClosedStep', closedStepSchema),
  runningProcesses: define<RunningProcess>('RunningProcess', runningProcessSchema),
  deliveryDays: define<DeliveryDay>('DeliveryDay', deliveryDaySchema),
  siteFigures: define<SiteFigures>('SiteFigures', siteFiguresSchema),
  periodMarks: define<PeriodMark>('PeriodMark', periodMarkSchema),
  workLeases: define<WorkLease>('WorkLease', workLeaseSchema),
  rankSnapshots: define<RankSnapshot>('RankSnapshot', rankSnapshotSchema),
  rankedLists: define<RankedList>('RankedList', rankedListSchema),
  listingSummary: define<StoredListingSummary>('ListingSummary', listingSummarySchema),
  reviews: define<Review>('Review', reviewSchema),
  reviewLists: define<ReviewList>('ReviewList', reviewListSchema),
  favourites: define<FavouriteList>('FavouriteList', favouriteListSchema),
  auditLog: define<AuditEntry>('AuditEntry', auditEntrySchema),
  rateLimits: define<RateLimit>('RateLimit', rateLimitSchema),
  users: define<User>('User', userSchema),
  sessions: define<SignInSession>('SignInSession', sessionSchema),
  credentials: define<Credential>('Credential', credentialSchema),
  verifications: define<Verification>('Verification', verificationSchema),
  twoFactors: define<SecondFactor>('SecondFactor', twoFactorSchema),
  addressChanges: define<AddressChange>('AddressChange', addressChangeSchema),
  accountDeletions: define<AccountDeletion>('AccountDeletion', accountDeletionSchema),
  mails: define<Mail>('Mail', mailSchema),
  sentNotifications: define<SentNotifications>('SentNotifications', sentNotificationsSchema),
  serverNotices: define<ServerNotices>('ServerNotices', serverNoticesSchema),
  events: define<StoredEvent>('Event', eventSchema),
  attemptLogs: define<AttemptLog>('AttemptLog', attemptLogSchema),
  subscriptions: define<Subscription>('Subscription', subscriptionSchema),
  voteWatches: define<VoteWatch>('VoteWatch', voteWatchSchema),
  liveMessages: define<LiveMessage>('LiveMessage', liveMessageSchema),
  voteGoals: define<VoteGoal>('VoteGoal', voteGoalSchema),
  pushKeys: define<PushKey>('PushKey', pushKeySchema),
  reminders: define<Reminder>('Reminder', reminderSchema),
  mailReminders: define<MailReminder>('MailReminder', mailReminderSchema),
  importMarks: define<ImportMark>('ImportMark', importMarkSchema),
  goalRounds: define<GoalRound>('GoalRound', goalRoundSchema),
  migrations: define<AppliedMigration>('AppliedMigration', appliedMigrationSchema),
};

type Models = typeof MODELS;

/**
 * The collections that the code works on: each is `Model.collection` with the driver's type, so a filter with a wrong
 * type does not compile. Tests find misspelt keys (docs/adr/0061-mongoose-and-migrations.md).
 */
export type Collections = {
  [Key in keyof Models]: Models[Key] extends ModelDefinition<infer T> ? Collection<T> : never;
};

/** The readiness check looks for their unique indexes. */
export const SCHEMAS: Schema[] = Object.values(MODELS).map(({ schema }) => schema);

/** A second call returns the same models. */
export function compileModels({
  connection,
}: Pick<Mongo, 'connection'>): Record<keyof Models, Model<object>> {
  const compiled = Object.entries(MODELS).map(([key, { name, schema }]) => [
    key,
    connection.model<object>(name, schema),
  ]);
  return Object.fromEntries(compiled);
}

export function bindCollections(mongo: Pick<Mongo, 'connection' | 'db'>): Collections {
  const { db } = mongo;
  const models = Object.entries(compileModels(mongo));
  // Batched writes send commands through `collection.db`, which mongoose's wrapper does not have.
  const bound = models.map(([key, { collection }]) => [key, Object.assign(collection, { db })]);
  const collections: object = Object.fromEntries(bound);
  return collections as Collections;
}
