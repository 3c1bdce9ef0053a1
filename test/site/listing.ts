/** Servers of two games in Germany, in the order of their ranks: Alpha 0, Alpha 1 and so on. */
export const servers = (count: number) =>
  Array.from({ length: count }, (_, i) => ({
    name: `Alpha ${i}`,
    game: i % 2 ? 'rust' : 'minecraft',
    countryCode: 'DE',
    online: i,
    votes: 1_000 - i,
  }));

/** The names of the servers on a page, in order. */
export const namesIn = (body: string) =>
  [...body.matchAll(/href="[^"]*\/servers\/[^"]+"><bdi>([^<]*)<\/bdi>/g)].map(([, name]) => name);
