import { type InferRawDocType, Schema } from 'mongoose';
import { LONGEST_REASON } from '../platform/text.ts';

export const REVIEW_STATES = ['pending', 'approved', 'rejected'] as const;
export type ReviewState = (typeof REVIEW_STATES)[number];

/** The stars that a review may give. */
export const RATINGS = [1, 2, 3, 4, 5] as const;

/** The owner's answer to a review. */
const answerDefinition = {
  text: { type: String, required: true },
  at: { type: Date, required: true },
  /** The e-mail address of its author; not public. */
  by: { type: String, required: true },
} as const;

const reviewDefinition = {
  _id: { type: Schema.Types.ObjectId, required: true },
  serverId: { type: Schema.Types.ObjectId, required: true },
  username: { type: String, required: true },
  rating: { type: Number, required: true, min: 1, max: 5, validate: Number.isInteger },
  content: { type: String },
  /**
   * The user who wrote it; absent for a review that an operator entered. The field keeps the
   * name that it had in version 0.1.0.
   */
  personId: { type: Schema.Types.ObjectId },
  /** Incremented with each edit, so a decision applies to the version that the operator saw; absent is 0. */
  revision: { type: Number },
  /** When its author last edited it; absent before the first edit. */
  editedAt: { type: Date },
  state: { type: String, enum: REVIEW_STATES, required: true },
  createdAt: { type: Date, required: true },
  /** When and by whom it was approved or rejected; null while it is pending. */
  moderatedAt: { type: Date, default: null },
  moderatedBy: { type: String, default: null },
  /** The internal reason of the rejection, if there is one: neither author nor owner see it. */
  rejectedFor: { type: String, default: null },
  /** The reason of the rejection for its author, if there is one. */
  rejectionReason: { type: String, maxlength: LONGEST_REASON, default: null },
  /**
   * When the server's owner was notified of its approval, or no notification was needed because the owner has switched
   * them off; absent before.
   */
  toldAt: { type: Date },
  /** The owner's answer, public while the review is; absent without one. */
  answer: { type: new Schema(answerDefinition, { _id: false }) },
} as const;

/** A player's review of a server. Only approved ones are public. */
export const reviewSchema = new Schema(reviewDefinition, { collection: 'reviews' });
reviewSchema.index({ serverId: 1, state: 1, createdAt: -1 });
// One review for each user and server.
reviewSchema.index(
  { serverId: 1, personId: 1 },
  { unique: true, partialFilterExpression: { personId: { $exists: true } } },
);
// For the author's own page.
reviewSchema.index(
  { personId: 1, createdAt: -1, _id: -1 },
  { partialFilterExpression: { personId: { $exists: true } } },
);
// For moderation: the oldest pending review first, the newest decision first.
reviewSchema.index({ state: 1, createdAt: 1, _id: 1 });
reviewSchema.index({ state: 1, moderatedAt: -1, _id: -1 });

const listingDefinition = {
  /** The server's id. */
  _id: { type: Schema.Types.ObjectId, required: true },
  count: { type: Number, required: true },
  ratingSum: { type: Number, required: true },
  /** The number of reviews for each rating: `{'1': 0, '5': 12}`; a rating without reviews may be absent. */
  spread: { type: Schema.Types.Mixed, default: {} },
  /** Newest first. */
  entries: {
    type: [
      new Schema(
        {
          id: { type: Schema.Types.ObjectId, required: true },
          at: { type: Date, required: true },
          /** The rating that the figures above count; absent in entries of 0.1.0. */
          rating: { type: Number },
        },
        { _id: false },
      ),
    ],
    required: true,
  },
} as const;

/**
 * A server's approved reviews in their public order. Every page is one slice of this document and one read by id, while
 * `skip()` on an index would examine all entries before the page.
 */
export const reviewListSchema = new Schema(listingDefinition, { collection: 'review_lists' });

export type Review = InferRawDocType<typeof reviewDefinition>;
export type ReviewList = Omit<InferRawDocType<typeof listingDefinition>, 'entries' | 'spread'> & {
  spread?: Record<string, number>;
  entries: { id: Review['_id']; at: Date; rating?: number }[];
};

export function revisionOf({ revision }: Pick<Review, 'revision'>): number {
  return revision ?? 0;
}

/** The fields of a review that nobody has decided about. */
export const UNDECIDED = {
  state: 'pending',
  moderatedAt: null,
  moderatedBy: null,
  rejectedFor: null,
  rejectionReason: null,
} as const;
