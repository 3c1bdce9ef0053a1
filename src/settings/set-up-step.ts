import type { Collection } from 'mongodb';
import { type InferRawDocType, Schema } from 'mongoose';
import { type AuditEntry, recordAudit } from '../platform/audit/audit-log.ts';
import type { Clock } from '../platform/clock.ts';

/** After the first operator was made, in their order. */
export const SET_UP_STEPS = ['name', 'checks', 'mail', 'contact', 'imprint', 'look', 'servers'] as const;
export type SetUpStep = (typeof SET_UP_STEPS)[number];

const closedStepDefinition = {
  /** A `SetUpStep`. */
  _id: { type: String, required: true },
  at: { type: Date, required: true },
} as const;

/** Only steps closed by hand. Whether any other step is done follows from the settings and the data. */
export const closedStepSchema = new Schema(closedStepDefinition, { collection: 'set_up_steps' });

export type ClosedStep = InferRawDocType<typeof closedStepDefinition>;

type StepDeps = { setUpSteps: Collection<ClosedStep>; auditLog: Collection<AuditEntry>; clock: Clock };

export async function readClosedSteps({ setUpSteps }: Pick<StepDeps, 'setUpSteps'>): Promise<Set<string>> {
  const closed = await setUpSteps.find({ _id: { $in: [...SET_UP_STEPS] } }).toArray();
  return new Set(closed.map(({ _id }) => _id));
}

export async function setStepClosed(
  deps: StepDeps,
  { step, isClosed, by }: { step: SetUpStep; isClosed: boolean; by: string },
): Promise<void> {
  const { setUpSteps, clock } = deps;
  const isChanged = isClosed
    ? (await setUpSteps.updateOne({ _id: step }, { $setOnInsert: { at: clock.now() } }, { upsert: true }))
        .upsertedCount > 0
    : (await setUpSteps.deleteOne({ _id: step })).deletedCount > 0;
  if (!isChanged) return;
  const action = isClosed ? 'setup.close-step' : 'setup.open-step';
  await recordAudit(deps, { by, action, serverId: null, details: { step } });
}
