import { expect, it } from 'vitest';
import { isPublicMail, mailboxOf, mailDomainOf } from '../../src/accounts/mailbox.ts';

it.each([
  ['Ann.B+votes@GoogleMail.com', 'annb@gmail.com'],
  ['ann.b-c_d@protonmail.com', 'annbcd@proton.me'],
  ['annbcd@pm.me', 'annbcd@proton.me'],
  ['ann@me.com', 'ann@icloud.com'],
  ['a.nn@icloud.com', 'a.nn@icloud.com'],
  ['ann-b@yandex.com', 'annb@yandex.ru'],
  // Fastmail delivers all mail to a user's own host to that user.
  ['a1@ann.fastmail.com', 'ann@fastmail.com'],
  ['a.nn+x@example.com', 'a.nn@example.com'],
  ['+x@example.com', '+x@example.com'],
])('%s reaches the mailbox %s', (email, mailbox) => {
  expect(mailboxOf(email)).toBe(mailbox);
});

it.each([
  ['ann@mail.example.co.uk', 'example.co.uk'],
  // `info.gg` is a domain like any other; `info` is a part of some countries' domains only.
  ['ann@a.info.gg', 'info.gg'],
  ['ann@b.info.pl', 'b.info.pl'],
  // Whoever gives away hosts below a domain of his own is one domain.
  ['ann@anything.eu.org', 'eu.org'],
  ['ann@localhost', 'localhost'],
  ['ann@example.com.', 'example.com'],
])('%s belongs to the registered domain %s', (email, domain) => {
  expect(mailDomainOf(email)).toBe(domain);
});

it('a host below a public provider’s domain is no public provider', () => {
  expect(isPublicMail(mailDomainOf('ann@fastmail.com'))).toBe(true);
  expect(mailDomainOf('a1@ann.fastmail.com')).toBe('ann.fastmail.com');
  expect(isPublicMail('ann.fastmail.com')).toBe(false);
});

it('a provider of aliases, and a name below another top-level domain, are no public provider', () => {
  expect([isPublicMail('gmail.com'), isPublicMail('hotmail.fr')]).toEqual([true, true]);
  expect(isPublicMail('hotmail.top')).toBe(false);
  expect(isPublicMail('duck.com')).toBe(false);
});
