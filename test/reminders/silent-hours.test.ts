import { expect, test } from 'vitest';
import { afterSilence, knownTimeZone, nextSilence } from '../../src/reminders/silent-hours.ts';

test.each([
  ['in the evening', '2026-11-30T20:59:59Z', 'Europe/Berlin', '2026-11-30T20:59:59Z'],
  ['at 22:00', '2026-11-30T21:00:00Z', 'Europe/Berlin', '2026-12-01T07:00:00Z'],
  ['after midnight', '2026-12-01T00:07:11Z', 'Europe/Berlin', '2026-12-01T07:00:00Z'],
  ['at 8:00', '2026-12-01T07:00:00Z', 'Europe/Berlin', '2026-12-01T07:00:00Z'],
  ['west of Greenwich', '2026-12-01T05:00:00Z', 'America/Los_Angeles', '2026-12-01T05:00:00Z'],
  ['with a zone of 45 minutes', '2026-12-01T17:00:00Z', 'Asia/Kathmandu', '2026-12-02T02:15:00Z'],
  ['in the night that is an hour shorter', '2026-03-28T22:00:00Z', 'Europe/Berlin', '2026-03-29T06:00:00Z'],
  ['in the night that is an hour longer', '2026-10-24T21:00:00Z', 'Europe/Berlin', '2026-10-25T07:00:00Z'],
  [
    'on an island whose clock moves by half an hour',
    '2026-10-03T12:00:00Z',
    'Australia/Lord_Howe',
    '2026-10-03T21:00:00Z',
  ],
])('a reminder that is due %s is sent at the first time outside of silent hours', (_when, at, zone, sentAt) => {
  expect(afterSilence(new Date(at), zone)).toEqual(new Date(sentAt));
});

test('the next silence begins at 22:00 of the browser', () => {
  expect(nextSilence(new Date('2026-12-01T07:00:00Z'), 'Europe/Berlin')).toEqual(
    new Date('2026-12-01T21:00:00Z'),
  );
});

test('a time zone that Node does not know counts as UTC', () => {
  expect(['europe/berlin', 'Mars/Olympus', ''].map(knownTimeZone)).toEqual(['Europe/Berlin', 'UTC', 'UTC']);
});
