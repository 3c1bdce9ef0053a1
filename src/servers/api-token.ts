import type { ObjectId, WithId } from 'mongodb';
import { type InferRawDocType, Schema } from 'mongoose';

/**
 * - `api`: it calls the whole API of its server.
 * - `claim`: a claim key, which may only check and claim votes. Vote plugins send it in addresses.
 * - `deliver`: a delivery token, which may only take votes and settle them.
 */
export const TOKEN_KINDS = ['api', 'claim', 'deliver'] as const;
export type TokenKind = (typeof TOKEN_KINDS)[number];

/**
 * What an API token may do: `vote` casts and claims votes, `status` reports the status, `read` reads. Tokens of the other
 * kinds have no scopes.
 */
export const TOKEN_SCOPES = ['vote', 'status', 'read'] as const;
export type TokenScope = (typeof TOKEN_SCOPES)[number];

const apiTokenDefinition = {
  _id: { type: Schema.Types.ObjectId, required: true },
  serverId: { type: Schema.Types.ObjectId, required: true },
  name: { type: String, required: true, trim: true, minlength: 1, maxlength: 120 },
  /** SHA-256 of the whole token, in hex. The token itself is shown once and never stored. */
  hash: { type: String, required: true, match: /^[0-9a-f]{64}$/ },
  /** The token's first characters, so that its owner recognises it. */
  prefix: { type: String, required: true },
  /** Absent in tokens of older versions, which are of the kind `api`. */
  kind: { type: String, enum: TOKEN_KINDS },
  /** Absent if the token has all scopes. */
  scopes: { type: [{ type: String, enum: TOKEN_SCOPES }], default: undefined },
  /**
   * The owner or member who made the token. It works while they are the owner, or a full member who is not suspended.
   */
  issuedBy: { type: Schema.Types.ObjectId },
  /**
   * True if an operator made the token. Tokens of older versions have neither this field nor `issuedBy`: their maker is
   * unknown.
   */
  byOperator: { type: Boolean },
  createdAt: { type: Date, required: true },
  expiresAt: { type: Date, default: null },
  /**
   * The lifetime that the token was issued with; null if it never expires. After a rotation the new token has the same
   * lifetime.
   */
  lifetimeMs: { type: Number, default: null },
  revokedAt: { type: Date, default: null },
  /** Precise to the minute. */
  lastUsedAt: { type: Date, default: null },
} as const;

/** A token that lets plugins and websites call the API for one server. */
export const apiTokenSchema = new Schema(apiTokenDefinition, { collection: 'api_tokens' });
apiTokenSchema.index({ hash: 1 }, { unique: true });
apiTokenSchema.index({ serverId: 1, createdAt: 1 });

export type ApiToken = InferRawDocType<typeof apiTokenDefinition>;

/** The maker of a token: a user with a role at its server, or an operator. */
export type TokenMaker = { issuedBy: ObjectId } | { byOperator: true };

/** A valid token and its server. Only the id of the server is cached. */
export type AuthenticatedToken = { serverId: ObjectId; token: WithId<ApiToken> };

/** The scopes of an API token, in the order of `TOKEN_SCOPES`. */
export function scopesOf({ scopes }: Pick<ApiToken, 'scopes'>): readonly TokenScope[] {
  return scopes ? TOKEN_SCOPES.filter((scope) => scopes.includes(scope)) : TOKEN_SCOPES;
}

export function kindOf({ kind }: Pick<ApiToken, 'kind'>): TokenKind {
  return kind ?? 'api';
}
