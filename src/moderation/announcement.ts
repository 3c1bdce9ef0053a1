import { type InferRawDocType, Schema } from 'mongoose';

export const ANNOUNCEMENT_LEVELS = ['info', 'warning'] as const;
export type AnnouncementLevel = (typeof ANNOUNCEMENT_LEVELS)[number];

const announcementDefinition = {
  _id: { type: String, required: true },
  /** Markdown. */
  text: { type: String, required: true, maxlength: 4_000 },
  level: { type: String, enum: ANNOUNCEMENT_LEVELS, required: true },
  until: { type: Date, default: null },
  at: { type: Date, required: true },
} as const;

/** The operators' announcement above all pages: one document or none. */
export const announcementSchema = new Schema(announcementDefinition, { collection: 'announcements' });

export type Announcement = InferRawDocType<typeof announcementDefinition>;
