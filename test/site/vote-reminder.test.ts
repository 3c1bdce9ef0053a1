import { ObjectId } from 'mongodb';
import { expect, test } from 'vitest';
import { after, DAY, HOUR } from '../../src/platform/clock.ts';
import { reminderCalendar } from '../../src/site/public/vote-reminder.ts';
import { addOwnedServer } from '../support/owned-server.ts';
import { getPage, openWebApp } from '../support/web-app.ts';

const SITE = { url: 'https://listing.example/servers-of', name: 'Tallyport' };
const NOW = new Date('2026-11-26T16:33:45.678Z');
const AT = after(NOW, DAY);
const ID = new ObjectId('0123456789abcdef01234567');

const calendar = (name: string) => reminderCalendar(SITE, { _id: ID, name, slug: 'alpha-craft' }, AT, NOW);

/** The lines of a calendar after unfolding (RFC 5545, 3.1). */
const linesOf = (file: string) => file.replaceAll('\r\n ', '').split('\r\n');

test('a reminder is one event in UTC with an alarm and a link, in the lines of RFC 5545', () => {
  expect(calendar('Alpha Craft')).toBe(
    [
      'BEGIN:VCALENDAR',
      'VERSION:2.0',
      'PRODID:-//Tallyport//Tallyport//EN',
      'METHOD:PUBLISH',
      'BEGIN:VEVENT',
      'UID:vote-0123456789abcdef01234567-20261127T163345Z@listing.example',
      'DTSTAMP:20261126T163345Z',
      'DTSTART:20261127T163345Z',
      'DTEND:20261127T163845Z',
      'SUMMARY:Vote for Alpha Craft',
      'DESCRIPTION:https://listing.example/servers-of/servers/alpha-craft/vote',
      'URL:https://listing.example/servers-of/servers/alpha-craft/vote',
      'TRANSP:TRANSPARENT',
      'BEGIN:VALARM',
      'ACTION:DISPLAY',
      'DESCRIPTION:Vote for Alpha Craft',
      'TRIGGER:PT0S',
      'END:VALARM',
      'END:VEVENT',
      'END:VCALENDAR',
      '',
    ].join('\r\n'),
  );
});

test('a name cannot add lines or properties: its special characters are escaped', () => {
  const lines = linesOf(calendar('A;B,C\\D\r\nATTENDEE:x\u0007'));
  expect(lines).toContain('SUMMARY:Vote for A\\;B\\,C\\\\D\\nATTENDEE:x');
  expect(lines.filter((line) => line.startsWith('ATTENDEE'))).toEqual([]);
});

test('lines have at most 75 bytes, and no character is split', () => {
  const name = `${'ä'.repeat(60)}${'🚀'.repeat(40)}`;
  const file = calendar(name);
  const lines = file.split('\r\n');
  for (const line of lines) {
    expect(Buffer.byteLength(line)).toBeLessThanOrEqual(75);
    expect(line).toBe(line.toWellFormed());
  }
  expect(lines.length).toBeGreaterThan(25);
  expect(linesOf(file)).toContain(`SUMMARY:Vote for ${name}`);
});

test('the file is served for a time within two days only, in the language of the reader', async () => {
  const web = await openWebApp();
  await addOwnedServer(web.deps, new ObjectId(), { name: 'Alpha Craft', address: 'play.example.org' });
  const get = (at: string, language = 'en') =>
    getPage(web, `/servers/alpha-craft/vote/reminder.ics${at}`, { 'accept-language': language });
  const at = after(web.deps.clock.now(), 23 * HOUR).toISOString();
  const answer = await get(`?at=${at}`);
  expect([answer.statusCode, answer.headers['content-type']]).toEqual([200, 'text/calendar; charset=utf-8']);
  expect(answer.headers['content-disposition']).toBe('attachment; filename="vote-alpha-craft.ics"');
  expect(answer.body).toContain('SUMMARY:Vote for Alpha Craft');
  expect((await get(`?at=${at}`, 'de')).body).toContain('SUMMARY:Für Alpha Craft abstimmen');
  const later = after(web.deps.clock.now(), 3 * DAY).toISOString();
  for (const query of [
    '',
    '?at=',
    '?at=soon',
    `?at=${later}`,
    `?at=${at}&at=${at}`,
    '?at=2026-99-99T00:00:00.000Z',
  ])
    expect((await get(query)).statusCode, query).toBe(404);
});
