import type { DBAdapter } from 'better-auth';
import { z } from 'zod';

/**
 * The sign-in library refuses some valid addresses, such as `a/b@example.org` and those of international domains. It
 * gets a stand-in for them, and its adapter of the database turns that into the address again. Nobody can enter a
 * stand-in: what looks like one gets a stand-in too.
 */
const SUFFIX = '@stand-in.invalid';

export function forLibrary(email: string): string {
  const isAccepted = z.email().safeParse(email).success && !email.toLowerCase().endsWith(SUFFIX);
  return isAccepted ? email : `${Buffer.from(email).toString('hex')}${SUFFIX}`;
}

function addressOf<T>(value: T): T | string {
  if (typeof value !== 'string' || !value.endsWith(SUFFIX)) return value;
  return Buffer.from(value.slice(0, -SUFFIX.length), 'hex').toString().toLowerCase();
}

export function withAddresses<Options>(
  open: (options: Options) => DBAdapter,
): (options: Options) => DBAdapter {
  return (options) => {
    const adapter = open(options);
    return {
      ...readingAddresses(adapter),
      transaction: (work) => adapter.transaction((inside) => work(readingAddresses(inside))),
    };
  };
}

function readingAddresses<A extends Omit<DBAdapter, 'transaction'>>(adapter: A): A {
  return {
    ...adapter,
    findOne: (query) =>
      adapter.findOne({
        ...query,
        where: query.where.map((one) =>
          one.field === 'email' ? { ...one, value: addressOf(one.value) } : one,
        ),
      }),
    create: (query) => adapter.create({ ...query, data: withAddress(query.data) }),
  };
}

function withAddress<T extends object>(data: T): T {
  return 'email' in data ? { ...data, email: addressOf(data.email) } : data;
}
