/** Ports of mail and remote shells: never a vote listener, and a favourite of those who probe through others. */
const REFUSED_PORTS = new Set([22, 25, 465, 587]);

/** Whether no listener is ever set to, tested at or sent a vote on `port`. */
export function isRefusedPort(port: number): boolean {
  return REFUSED_PORTS.has(port);
}
