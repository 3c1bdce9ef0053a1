import type { html } from 'hono/html';

/** A part of a page. */
export type Html = ReturnType<typeof html>;

/** Elements that a text may contain as they are. */
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
/** The branches of a plural have spaces; names do not. */
type Word<S extends string> = S extends '' | `${string} ${string}` | `${string}#${string}` ? never : S;

/** The names of a text's elements, as in `Without it, <a>sign in</a>.` */
type Tag<S extends string> = S extends `${string}<${infer Name}>${infer Rest}`
  ? Exclude<Name, PlainTag | `/${string}`> | Tag<Rest>
  : never;

type AnyTag<S extends string> = S extends `${string}<${string}>${string}` ? true : false;

/** What a placeholder is replaced by. A number follows the rules of the language. */
export type Value = string | number | Html;

/** What a text needs: a value for each placeholder, a function for each element. */
export type Values<S extends string> = { [Name in Placeholder<S>]: Value } & {
  [Name in Tag<S>]: (text: Html) => Html;
};

/** A text without placeholders and elements is a string, and one with only strings and numbers too. */
export type Made<S extends string, V> =
  AnyTag<S> extends true ? Html : Extract<V[keyof V], object> extends never ? string : Html;

/** Whether a text needs no values. */
export type NeedsNothing<S extends string> = [Placeholder<S> | Tag<S>] extends [never] ? true : false;
