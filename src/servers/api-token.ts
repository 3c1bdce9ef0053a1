import type { ObjectId, WithId } from 'mongodb';
import { type InferRawDocType, Schema } from 'mongoose';
import type { ListingPause } from './listing-pause.ts';

/**
 * `claim`: a claim key, which can only check and claim votes; vote plugins send it in URLs. `deliver`: a delivery
 * token, which may only take votes and settle them.
 */
export const TOKEN_KINDS = ['api', 'claim', 'deliver'] as const;
export type TokenKind = (typeof TOKEN_KINDS)[number];

/** `vote` casts and claims votes. Tokens of the other kinds have no scopes. */
export const TOKEN_SCOPES = ['vote', 'status', 'read'] as const;
export type TokenScope = (typeof TOKEN_SCOPES)[number];

const apiTokenDefinition = {
  _id: { type: Schema.Types.ObjectId, required: true },
  serverId: { type: Schema.Types.ObjectId, required: true },
  name: { type: String, required: true, trim: true, minlength: 1, maxlength: 120 },
  /** SHA-256 of the whole token, in hex. The token itself is shown once and never stored. */
  hash: { type: String, required: true, match: /^[0-9a-f]{64}$/ },
  /** The token's first characters, by which its owner recognises it. */
  prefix: { type: String, required: true },
  /** Absent in tokens of older versions, which all have the kind `api`. */
  kind: { type: String, enum: TOKEN_KINDS },
  /** For kind `api`: absent if the token has all scopes. */
  scopes: { type: [{ type: String, enum: TOKEN_SCOPES }], default: undefined },
  /**
   * The creator, or who took the token over (`handOverTokens`). The token works only while this user is the owner, or a
   * full member who is not suspended.
   */
  issuedBy: { type: Schema.Types.ObjectId },
  /** True if an operator made it or took it over. Tokens of older versions have neither this field nor `issuedBy`. */
  byOperator: { type: Boolean },
  createdAt: { type: Date, required: true },
  expiresAt: { type: Date, default: null },
  /** The lifetime, which a rotation gives to the new token too; null if the token never expires. */
  lifetimeMs: { type: Number, default: null },
  revokedAt: { type: Date, default: null },
  /** The time of the last use, to the minute. */
  lastUsedAt: { type: Date, default: null },
} as const;

export const apiTokenSchema = new Schema(apiTokenDefinition, { collection: 'api_tokens' });
apiTokenSchema.index({ hash: 1 }, { unique: true });
apiTokenSchema.index({ serverId: 1, createdAt: 1 });
// Pages ask whether a plugin claims or fetches the votes, whatever other tokens a server has.
apiTokenSchema.index({ serverId: 1, kind: 1 });

export type ApiToken = InferRawDocType<typeof apiTokenDefinition>;

/** The owner or a full member of the server, or an operator. */
export type TokenMaker = { issuedBy: ObjectId } | { byOperator: true };

/** A valid token and of its server the id, the owner and the pause. The server itself is not cached. */
export type AuthenticatedToken = {
  serverId: ObjectId;
  ownerId: ObjectId | null;
  listingPause: ListingPause | null;
  token: WithId<ApiToken>;
};

export function scopesOf({ scopes }: Pick<ApiToken, 'scopes'>): readonly TokenScope[] {
  return scopes ? TOKEN_SCOPES.filter((scope) => scopes.includes(scope)) : TOKEN_SCOPES;
}

export function kindOf({ kind }: Pick<ApiToken, 'kind'>): TokenKind {
  return kind ?? 'api';
}
