/** `play.example.org:25565`; an IPv6 address is in brackets: `[2001:db8::1]:25565`. */
export function hostAndPort(host: string, port: number): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}
