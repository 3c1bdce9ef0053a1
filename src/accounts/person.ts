import { type InferRawDocType, Schema } from 'mongoose';

export const ROLES = ['owner', 'operator'] as const;
export type Role = (typeof ROLES)[number];

/**
 * The sign-in library reads and writes these collections itself and asks for no index it could do without; the
 * unique ones here are what makes two sign-ups with one address, at the same moment, one person.
 */
const personDefinition = {
  _id: { type: Schema.Types.ObjectId, required: true },
  name: { type: String, required: true },
  /** In lower case, as the library stores it. */
  email: { type: String, required: true },
  emailVerified: { type: Boolean, required: true },
  image: { type: String, default: null },
  createdAt: { type: Date, required: true },
  updatedAt: { type: Date, required: true },
  role: { type: String, enum: ROLES, required: true },
  /** An operator suspended this person then: no sign-in, and every session has ended. */
  suspendedAt: { type: Date, default: null },
  twoFactorEnabled: { type: Boolean, default: false },
  /** Whether this person gets mail about the votes of their servers. */
  wantsMail: { type: Boolean, default: true },
} as const;

/** People who sign in: owners of servers and operators of the listing. */
export const personSchema = new Schema(personDefinition, { collection: 'people' });
personSchema.index({ email: 1 }, { unique: true });
personSchema.index({ createdAt: -1 });
personSchema.index({ role: 1, createdAt: -1 });

const sessionDefinition = {
  _id: { type: Schema.Types.ObjectId, required: true },
  userId: { type: Schema.Types.ObjectId, required: true },
  token: { type: String, required: true },
  createdAt: { type: Date, required: true },
  updatedAt: { type: Date, required: true },
  expiresAt: { type: Date, required: true },
  ipAddress: { type: String },
  userAgent: { type: String },
} as const;

/** Who is signed in, and where. Gone from here is signed out. */
export const sessionSchema = new Schema(sessionDefinition, { collection: 'sessions' });
sessionSchema.index({ token: 1 }, { unique: true });
sessionSchema.index({ userId: 1 });
sessionSchema.index({ expiresAt: 1 }, { expireAfterSeconds: 0 });

/** How a person can sign in: with a password (its hash), or by another site. */
export const credentialSchema = new Schema({}, { collection: 'credentials' });
credentialSchema.index({ providerId: 1, accountId: 1 }, { unique: true });
credentialSchema.index({ userId: 1 });

/** One-time links and codes that were given out; their tokens are kept as hashes. */
export const verificationSchema = new Schema({}, { collection: 'verifications' });
verificationSchema.index({ identifier: 1 });
verificationSchema.index({ expiresAt: 1 }, { expireAfterSeconds: 0 });

/** Secrets of authenticator apps and backup codes, encrypted by the library. */
export const twoFactorSchema = new Schema({}, { collection: 'two_factors' });
twoFactorSchema.index({ userId: 1 }, { unique: true });

export type Person = Omit<InferRawDocType<typeof personDefinition>, 'role'> & { role: Role };
export type SignInSession = InferRawDocType<typeof sessionDefinition>;
