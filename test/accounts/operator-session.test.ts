import { ObjectId } from 'mongodb';
import { describe, expect, test } from 'vitest';
import { lacksSecondFactor, mayActAsOperator, type SignedIn } from '../../src/accounts/sessions.ts';
import type { User } from '../../src/accounts/user.ts';
import { after, HOUR } from '../../src/platform/clock.ts';
import { stoppedClock } from '../support/stopped-clock.ts';

const STARTED_AT = new Date('2026-05-04T10:00:00.000Z');

type Given = {
  role?: 'operator' | 'owner';
  twoFactorEnabled?: boolean;
  /** Hours after the start of the session. */
  codeAfter?: number | null;
};

function signedIn({ role = 'operator', twoFactorEnabled = true, codeAfter = 0 }: Given): SignedIn {
  return {
    user: { _id: new ObjectId(), role, twoFactorEnabled } as User,
    session: {
      id: new ObjectId(),
      token: 'token',
      createdAt: STARTED_AT,
      expiresAt: after(STARTED_AT, 48 * HOUR),
      secondFactorAt: codeAfter === null ? null : after(STARTED_AT, codeAfter * HOUR),
    },
  };
}

function ruleAt(hours: number, required: 'required' | 'optional' = 'required') {
  return { config: { OPERATOR_TWO_FACTOR: required }, clock: stoppedClock(after(STARTED_AT, hours * HOUR)) };
}

describe('a session has the rights of an operator', () => {
  test.for<[string, Given, number, boolean]>([
    ['for 12 hours', {}, 12, true],
    ['no longer than 12 hours', {}, 12.001, false],
    ['not with a new code in an old session', { codeAfter: 12 }, 13, false],
    ['not before the code is given', { codeAfter: null }, 0, false],
    ['not without a second factor', { twoFactorEnabled: false, codeAfter: null }, 0, false],
    ['not for an owner', { role: 'owner' }, 0, false],
  ])('%s', ([, given, hours, expected]) => {
    expect(mayActAsOperator(ruleAt(hours), signedIn(given))).toBe(expected);
  });

  test('without a second factor where none is required', () => {
    const session = signedIn({ twoFactorEnabled: false, codeAfter: null });
    expect(mayActAsOperator(ruleAt(12, 'optional'), session)).toBe(true);
    expect(mayActAsOperator(ruleAt(13, 'optional'), session)).toBe(false);
  });
});

test('only operators must have a second factor', () => {
  const without = { twoFactorEnabled: false };
  expect(lacksSecondFactor(ruleAt(0), { role: 'operator', ...without })).toBe(true);
  expect(lacksSecondFactor(ruleAt(0, 'optional'), { role: 'operator', ...without })).toBe(false);
  expect(lacksSecondFactor(ruleAt(0), { role: 'owner', ...without })).toBe(false);
});
