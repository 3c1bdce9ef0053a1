import { type InferRawDocType, Schema } from 'mongoose';

const ROLES = ['owner', 'operator'] as const;
export type Role = (typeof ROLES)[number];

/**
 * The sign-in library reads and writes these collections itself and asks for no index it could do without; the
 * unique ones here are what makes two sign-ups with one address, at the same moment, one user.
 */
const userDefinition = {
  _id: { type: Schema.Types.ObjectId, required: true },
  name: { type: String, required: true },
  /** In lower case, as the library stores it. */
  email: { type: String, required: true },
  emailVerified: { type: Boolean, required: true },
  image: { type: String, default: null },
  createdAt: { type: Date, required: true },
  updatedAt: { type: Date, required: true },
  role: { type: String, enum: ROLES, required: true },
  /** An operator suspended this user then: no sign-in, and every session has ended. */
  suspendedAt: { type: Date, default: null },
  /** Why, in the operator's words. */
  suspendedFor: { type: String, maxlength: 500 },
  twoFactorEnabled: { type: Boolean, default: false },
  /** Whether this user gets mail about the votes of their servers. */
  wantsMail: { type: Boolean, default: true },
} as const;

/** Users who sign in: owners of servers and operators of the listing. */
export const userSchema = new Schema(userDefinition, { collection: 'people' });
userSchema.index({ email: 1 }, { unique: true });
userSchema.index({ createdAt: -1, _id: -1 });
userSchema.index({ role: 1, createdAt: -1, _id: -1 });
/** How names are compared where users are looked for: neither case nor accents count. */
export const NAME_COLLATION = { locale: 'en', strength: 1 } as const;
userSchema.index({ name: 1 }, { name: 'name_for_search', collation: NAME_COLLATION });

const sessionDefinition = {
  _id: { type: Schema.Types.ObjectId, required: true },
  userId: { type: Schema.Types.ObjectId, required: true },
  token: { type: String, required: true },
  createdAt: { type: Date, required: true },
  updatedAt: { type: Date, required: true },
  expiresAt: { type: Date, required: true },
  ipAddress: { type: String },
  userAgent: { type: String },
  /** When a code of the second factor was last given in this session. */
  secondFactorAt: { type: Date, default: null },
} as const;

/** Who is signed in, and where. Gone from here is signed out. */
export const sessionSchema = new Schema(sessionDefinition, { collection: 'sessions' });
sessionSchema.index({ token: 1 }, { unique: true });
sessionSchema.index({ userId: 1 });
sessionSchema.index({ expiresAt: 1 }, { expireAfterSeconds: 0 });

/** How a user can sign in: with a password (its hash), or by another site. */
const credentialDefinition = {
  _id: { type: Schema.Types.ObjectId, required: true },
  userId: { type: Schema.Types.ObjectId, required: true },
  /** `credential` for a password, `discord`. */
  providerId: { type: String, required: true },
  accountId: { type: String, required: true },
} as const;
export const credentialSchema = new Schema(credentialDefinition, { collection: 'credentials' });
credentialSchema.index({ providerId: 1, accountId: 1 }, { unique: true });
credentialSchema.index({ userId: 1 });

/** One-time links and codes that were given out; their tokens are kept as hashes. */
const verificationDefinition = {
  _id: { type: Schema.Types.ObjectId, required: true },
  identifier: { type: String, required: true },
  /** For a link to set a password: whose it is. */
  value: { type: String, required: true },
  expiresAt: { type: Date, required: true },
} as const;
export const verificationSchema = new Schema(verificationDefinition, { collection: 'verifications' });
verificationSchema.index({ identifier: 1 });
verificationSchema.index({ value: 1 });
verificationSchema.index({ expiresAt: 1 }, { expireAfterSeconds: 0 });

/** Secrets of authenticator apps and backup codes, encrypted by the library. */
const secondFactorDefinition = {
  _id: { type: Schema.Types.ObjectId, required: true },
  userId: { type: Schema.Types.ObjectId, required: true },
  /** False until the first code of the app was right. */
  verified: { type: Boolean },
} as const;
export const twoFactorSchema = new Schema(secondFactorDefinition, { collection: 'two_factors' });
twoFactorSchema.index({ userId: 1 }, { unique: true });

export type User = Omit<InferRawDocType<typeof userDefinition>, 'role'> & { role: Role };
export type SignInSession = InferRawDocType<typeof sessionDefinition>;
export type Credential = InferRawDocType<typeof credentialDefinition>;
export type Verification = InferRawDocType<typeof verificationDefinition>;
export type SecondFactor = InferRawDocType<typeof secondFactorDefinition>;
