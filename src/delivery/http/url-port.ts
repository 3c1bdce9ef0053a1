/** The port of an HTTP listener's URL, with the default port of its scheme. */
export function portOf(url: URL): number {
  return Number(url.port) || (url.protocol === 'https:' ? 443 : 80);
}
