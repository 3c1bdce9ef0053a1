import { expect, it } from 'vitest';
import { emailAddress } from '../../src/platform/email-address.ts';

const schema = emailAddress({ error: 'must be an e-mail address' });

it.each([
  'olivia@example.org',
  'a/b@example.org',
  'a=b@example.org',
  'a&b@example.org',
  "o'hara+votes@mail.example.org",
  'ivan@xn--e1afmkfd.xn--p1ai',
  `${'a'.repeat(64)}@example.org`,
])('%s is an address', (email) => {
  expect(schema.parse(` ${email} `)).toBe(email);
});

it('an international domain becomes ASCII', () => {
  expect(schema.parse('ivan@пример.рф')).toBe('ivan@xn--e1afmkfd.xn--p1ai');
});

it.each([
  '',
  'olivia',
  'olivia@example',
  'olivia@127.0.0.1',
  '@example.org',
  '.olivia@example.org',
  'olivia.@example.org',
  'oli..via@example.org',
  'oli via@example.org',
  'olivia@-example.org',
  'olivia@example..org',
  'olivia@example.org\r\nBcc: x@example.org',
  '"olivia"@example.org',
  `olivia@${'a.'.repeat(130)}org`,
])('%j is no address', (email) => {
  expect(schema.safeParse(email).success).toBe(false);
});
