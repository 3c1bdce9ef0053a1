/** For texts that are only in English. Other texts are sentences with an ICU plural, because a language may have more forms. */
export function plural(value: number, one: string, other: string): string {
  return value === 1 ? one : other;
}
