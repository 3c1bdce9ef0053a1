import type { ObjectId } from 'mongodb';
import type { Text } from '../../language/t.ts';
import type { Config } from '../config.ts';

type NumberSetting = { [K in keyof Config]-?: Config[K] extends number ? K : never }[keyof Config];

/** At most `times` uses in a window of `windowMs` that begins with the first use. The texts are for the documents. */
type Definition = {
  /** If uses are counted in MongoDB: under this key, mostly followed by whose they are, so it must not change. */
  key: string;
  /** What is counted: `Searches`. */
  what: string;
  /** Whose uses are counted together. Only for `network`, `countUse` takes an address and counts by `networksOf`. */
  of: string;
  windowMs: number;
  /** If it is counted by UTC day, not in a window. */
  isOfUtcDay?: true;
  /** If each process counts for itself (local-limit.ts). */
  isOfProcess?: true;
} & (
  | { times: number }
  /** `times` is this part of a setting (`timesBySetting`). */
  | { setting: NumberSetting; part?: number }
) &
  (
    | /** The sentence for the user when it is used up. */ { sentence: Text }
    | /** What happens then, if there is no such sentence. */ { beyond: string }
  );

declare const defined: unique symbol;
type Defined = { readonly [defined]: true };

/** Made with `defineLimit`, or one for somebody made from it with `limitFor`. */
export type Limit = Defined & {
  key: string;
  times: number;
  windowMs: number;
  isOfProcess?: never;
  isOfUtcDay?: never;
};
export type ProcessLimit = Defined & { times: number; windowMs: number; isOfProcess: true };

export const DEFINED_LIMITS: Definition[] = [];

/** Defines a limit of how often something may be done. `npm run generate` adds it to the tables of the documents. */
export function defineLimit<const D extends Definition>(definition: D): D & Defined {
  DEFINED_LIMITS.push(definition);
  return definition as D & Defined;
}

export function limitFor<L extends Limit>(limit: L, whose: string | ObjectId): L {
  return { ...limit, key: `${limit.key}:${whose}` };
}

/** A limit with the times that its setting gives, rounded up. */
export function timesBySetting<D extends Defined & { setting: NumberSetting; part?: number }>(
  limit: D,
  config: Record<D['setting'], number>,
): D & { times: number } {
  const setting: D['setting'] = limit.setting;
  return { ...limit, times: Math.ceil(config[setting] * (limit.part ?? 1)) };
}
