export {
  type AcceptedVote,
  type CallOptions,
  createTallyport,
  type Tallyport,
  type TallyportOptions,
} from './client.ts';
export { type ErrorCode, TallyportError } from './errors.ts';
export type {
  ReviewPage,
  ServerInfo,
  StatusReport,
  TopVoters,
  VoteCheck,
  VoteClaim,
  VotePage,
} from './generated/types.gen.ts';
export {
  type ForwardedVote,
  receiveWebhook,
  verifyWebhook,
  WebhookError,
  type WebhookHeaders,
  type WebhookMessage,
} from './webhooks.ts';
