export {
  type AcceptedVote,
  type CallOptions,
  createTallyport,
  type Tallyport,
} from './client.ts';
export type { Delivery, TakeOptions } from './deliveries.ts';
export { type ErrorCode, TallyportError } from './errors.ts';
export type {
  PlayerNames,
  PublicGames,
  PublicHistory,
  PublicServerInFull,
  PublicServerPage,
  PublicStats,
  ReviewPage,
  ServerInfo,
  StatusReport,
  TopVoters,
  VoteCheck,
  VoteClaim,
  VotePage,
} from './generated/types.gen.ts';
export { createListing, type Listing, type PublicServer } from './listing.ts';
export type { ListingOptions, TallyportOptions } from './options.ts';
export {
  type ForwardedVote,
  receiveWebhook,
  verifyWebhook,
  WebhookError,
  type WebhookHeaders,
  type WebhookMessage,
} from './webhooks.ts';
