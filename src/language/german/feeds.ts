/** Texts of Atom feeds and of structured data. */
export const FEEDS = {
  'New servers on {listing}': 'Neue Server auf {listing}',
  'New {game} servers on {listing}': 'Neue {game}-Server auf {listing}',
  'A {game} server.': 'Ein {game}-Server.',
  'Reviews of {server}': 'Bewertungen von {server}',
} as const satisfies Record<string, string>;
