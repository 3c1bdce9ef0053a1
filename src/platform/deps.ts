import type { Collection } from 'mongodb';
import type { AuditEntry } from './audit/audit-log.ts';
import type { CheckAllowance } from './limits/check-allowance.ts';
import type { RateLimit } from './limits/rate-limit.ts';
import type { PeriodMark } from './periods/period-marks.ts';
import type { WorkLease } from './periods/work-lease.ts';
import type { Resources } from './resources.ts';

/**
 * The `…Deps` of a feature adds its own collections and contains those of the folders that it calls (CONTRIBUTING.md),
 * so each caller passes its own `deps` on.
 */
export type PlatformDeps = Omit<Resources, 'close'> & {
  auditLog: Collection<AuditEntry>;
  diagnosisAllowances: Collection<CheckAllowance>;
  periodMarks: Collection<PeriodMark>;
  rateLimits: Collection<RateLimit>;
  workLeases: Collection<WorkLease>;
};
