import { z } from 'zod';
import { t } from '../language/t.ts';
import { isRefusedPort } from '../platform/address-guard.ts';
import { hostSchema } from '../platform/input.ts';
import { MAX_SENDINGS } from './delivery-limits.ts';
import { REWARDS } from './listener.ts';

export const listenerPort = z
  .int({ error: () => t('port must be a whole number, 1 to 65535') })
  .min(1, { error: () => t('port must be a whole number, 1 to 65535') })
  .max(65_535, { error: () => t('port must be a whole number, 1 to 65535') })
  .refine((port) => !isRefusedPort(port), {
    error: () => t('port 22, 25, 465 and 587 are never a vote listener'),
  });

const sendingsRule = { error: () => t('a vote is sent at most 1 to {max} times', { max: MAX_SENDINGS }) };

/**
 * For votes without an answer. `maxSendings`: unchanged when absent. `resendUsedUp`: votes that an earlier token or key
 * left unconfirmed are sent again.
 */
export const unansweredVotes = z.object({
  maxSendings: z.int(sendingsRule).min(1, sendingsRule).max(MAX_SENDINGS, sendingsRule).optional(),
  resendUsedUp: z.boolean().default(true),
  /** How players get their rewards. Only for a new listener: `setRewards` changes an existing one. */
  rewards: z.enum(REWARDS).optional(),
});

const LONGEST_SERVICE_NAME = 64;

const serviceName = z
  .string()
  .trim()
  .min(1, { error: () => t('service name must not be empty') })
  .max(LONGEST_SERVICE_NAME, {
    error: () => t('service name must have at most {most} characters', { most: LONGEST_SERVICE_NAME }),
  })
  .regex(/^\P{Cc}*$/u, { error: () => t('service name must have no control characters') });

/** `secret`: the public key (v1) or token (v2); null keeps the stored one. */
export const listenerSettingsSchema = unansweredVotes.extend({
  protocol: z.enum(['votifier-v1', 'votifier-v2']),
  host: hostSchema,
  port: listenerPort,
  secret: z.string().nullable(),
  serviceName,
});

export const fetchSettingsSchema = unansweredVotes.extend({ serviceName });
