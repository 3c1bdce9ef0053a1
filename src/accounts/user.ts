import { type InferRawDocType, Schema } from 'mongoose';
import { LONGEST_REASON } from '../platform/text.ts';

const ROLES = ['owner', 'operator'] as const;
export type UserRole = (typeof ROLES)[number];

/**
 * Better Auth reads and writes the collections of this file itself. Of two sign-ups with one address at the same time,
 * the unique indexes let only one make a user.
 */
const userDefinition = {
  _id: { type: Schema.Types.ObjectId, required: true },
  name: { type: String, required: true },
  /** In lower case, as the library stores it. */
  email: { type: String, required: true },
  /** Absent or null if never. Older audit entries that name the address may be about another user. */
  emailChangedAt: { type: Date },
  emailVerified: { type: Boolean, required: true },
  image: { type: String, default: null },
  createdAt: { type: Date, required: true },
  updatedAt: { type: Date, required: true },
  role: { type: String, enum: ROLES, required: true },
  /** When an operator suspended this user. A suspended user has no sessions and cannot sign in. */
  suspendedAt: { type: Date, default: null },
  /** The internal reason; the user never sees it. */
  suspendedFor: { type: String, maxlength: 500 },
  /** The reason that the user sees when they sign in. */
  suspensionReason: { type: String, maxlength: LONGEST_REASON },
  twoFactorEnabled: { type: Boolean, default: false },
  /** The code of the language of their mails: the one that they chose, else that of the page of their last sign-in. */
  language: { type: String, maxlength: 3 },
  /** They chose `language`, so their pages are in it too, in every browser that chose no other. */
  choseLanguage: { type: Boolean },
  /** Whether this user gets mail about their servers. */
  wantsMail: { type: Boolean, default: true },
  /** The kinds of mail about servers that the user switched off (notifications/kinds.ts). Absent before any choice. */
  mailOff: { type: [String], default: undefined },
} as const;

/** All users: owners of servers, players who have an account, and operators of the listing. */
export const userSchema = new Schema(userDefinition, { collection: 'people' });
userSchema.index({ email: 1 }, { unique: true });
userSchema.index({ createdAt: -1, _id: -1 });
userSchema.index({ role: 1, createdAt: -1, _id: -1 });
userSchema.index({ role: 1, email: 1 });
/** Ignores case and accents. */
export const NAME_COLLATION = { locale: 'en', strength: 1 } as const;
userSchema.index({ name: 1 }, { name: 'name_for_search', collation: NAME_COLLATION });
userSchema.index({ role: 1, name: 1 }, { name: 'role_and_name_for_search', collation: NAME_COLLATION });

const sessionDefinition = {
  _id: { type: Schema.Types.ObjectId, required: true },
  userId: { type: Schema.Types.ObjectId, required: true },
  token: { type: String, required: true },
  createdAt: { type: Date, required: true },
  updatedAt: { type: Date, required: true },
  expiresAt: { type: Date, required: true },
  ipAddress: { type: String },
  userAgent: { type: String },
  /** When the user last entered a code of the second factor in this session; null if never. */
  secondFactorAt: { type: Date, default: null },
} as const;

/** Sessions of signed-in users. If a document is deleted, only that session ends. */
export const sessionSchema = new Schema(sessionDefinition, { collection: 'sessions' });
sessionSchema.index({ token: 1 }, { unique: true });
sessionSchema.index({ userId: 1 });
sessionSchema.index({ expiresAt: 1 }, { expireAfterSeconds: 0 });

/** One way in which a user can sign in: a password (stored as a hash) or another site. */
const credentialDefinition = {
  _id: { type: Schema.Types.ObjectId, required: true },
  userId: { type: Schema.Types.ObjectId, required: true },
  /** `credential` for a password, `discord` or `oidc`. */
  providerId: { type: String, required: true },
  accountId: { type: String, required: true },
} as const;
export const credentialSchema = new Schema(credentialDefinition, { collection: 'credentials' });
credentialSchema.index({ providerId: 1, accountId: 1 }, { unique: true });
credentialSchema.index({ userId: 1 });

/** One-time links, and sign-ins that have begun. Their tokens are stored as hashes. */
const verificationDefinition = {
  _id: { type: Schema.Types.ObjectId, required: true },
  identifier: { type: String, required: true },
  /**
   * For a link to set a password, and for a sign-in that waits for a code: the user's id. For a sign-up link: the
   * e-mail address. For a setup link: `setup`.
   */
  value: { type: String, required: true },
  /** For a sign-up link: the page on which the sign-up began, as a path. */
  next: { type: String },
  expiresAt: { type: Date, required: true },
} as const;
export const verificationSchema = new Schema(verificationDefinition, { collection: 'verifications' });
verificationSchema.index({ identifier: 1 });
verificationSchema.index({ value: 1 });
verificationSchema.index({ expiresAt: 1 }, { expireAfterSeconds: 0 });

/** Secrets of authenticator apps and backup codes, encrypted by Better Auth. */
const secondFactorDefinition = {
  _id: { type: Schema.Types.ObjectId, required: true },
  userId: { type: Schema.Types.ObjectId, required: true },
  /** False until the user has entered a correct code of the app. */
  verified: { type: Boolean },
} as const;
export const twoFactorSchema = new Schema(secondFactorDefinition, { collection: 'two_factors' });
twoFactorSchema.index({ userId: 1 }, { unique: true });

export type User = Omit<InferRawDocType<typeof userDefinition>, 'role'> & { role: UserRole };
export type SignInSession = InferRawDocType<typeof sessionDefinition>;
export type Credential = InferRawDocType<typeof credentialDefinition>;
export type Verification = InferRawDocType<typeof verificationDefinition>;
export type SecondFactor = InferRawDocType<typeof secondFactorDefinition>;
