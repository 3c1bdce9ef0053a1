import type { html } from 'hono/html';

export type Html = ReturnType<typeof html>;

export type PlainTag = 'bdi' | 'strong' | 'em' | 'code';

/** As in `Page {page} of {pages}`. */
type Placeholder<S extends string> = S extends `${string}{${infer Rest}`
  ? PlaceholderName<Rest> | Placeholder<Rest>
  : never;
type PlaceholderName<Rest extends string> = Rest extends `${infer Inside}}${string}`
  ? Inside extends `${infer Name},${string}`
    ? Word<Name>
    : Word<Inside>
  : never;
/** A branch of an ICU plural is no placeholder: it contains a space or `#`. */
type Word<S extends string> = S extends '' | `${string} ${string}` | `${string}#${string}` ? never : S;

/** Those that need a function: `a` in `Without it, <a>sign in</a>.` */
type Tag<S extends string> = S extends `${string}<${infer Name}>${infer Rest}`
  ? Exclude<Name, PlainTag | `/${string}`> | Tag<Rest>
  : never;

type AnyTag<S extends string> = S extends `${string}<${string}>${string}` ? true : false;

export type Value = string | number | Html;

export type Values<S extends string> = { [Name in Placeholder<S>]: Value } & {
  [Name in Tag<S>]: (text: Html) => Html;
};

export type Made<S extends string, V> =
  AnyTag<S> extends true ? Html : Extract<V[keyof V], object> extends never ? string : Html;

export type NeedsNothing<S extends string> = [Placeholder<S> | Tag<S>] extends [never] ? true : false;
