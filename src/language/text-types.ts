import type { html } from 'hono/html';

/** A part of a page. */
export type Html = ReturnType<typeof html>;

/** HTML elements that a text may contain directly. */
export type PlainTag = 'bdi' | 'strong' | 'em' | 'code';

/** The names of a text's placeholders, as in `Page {page} of {pages}`. */
type Placeholder<S extends string> = S extends `${string}{${infer Rest}`
  ? PlaceholderName<Rest> | Placeholder<Rest>
  : never;
type PlaceholderName<Rest extends string> = Rest extends `${infer Inside}}${string}`
  ? Inside extends `${infer Name},${string}`
    ? Word<Name>
    : Word<Inside>
  : never;
/** `S` if it is the name of a placeholder. A branch of an ICU plural is not one: it contains a space or `#`. */
type Word<S extends string> = S extends '' | `${string} ${string}` | `${string}#${string}` ? never : S;

/** The names of the elements that need a function: `a` in `Without it, <a>sign in</a>.` `PlainTag` needs none. */
type Tag<S extends string> = S extends `${string}<${infer Name}>${infer Rest}`
  ? Exclude<Name, PlainTag | `/${string}`> | Tag<Rest>
  : never;

type AnyTag<S extends string> = S extends `${string}<${string}>${string}` ? true : false;

/** A value for a placeholder. A number is formatted by the rules of the language. */
export type Value = string | number | Html;

/** The values of a text: one for each placeholder, and a function for each element that is not a `PlainTag`. */
export type Values<S extends string> = { [Name in Placeholder<S>]: Value } & {
  [Name in Tag<S>]: (text: Html) => Html;
};

/** The type of a finished text: a string if it has no elements and no value is `Html`; otherwise `Html`. */
export type Made<S extends string, V> =
  AnyTag<S> extends true ? Html : Extract<V[keyof V], object> extends never ? string : Html;

/** Whether a text has neither placeholders nor elements. */
export type NeedsNothing<S extends string> = [Placeholder<S> | Tag<S>] extends [never] ? true : false;
