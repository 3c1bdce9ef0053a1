import { REFUSED_PORTS } from '../address-guard.ts';

/** Whether no listener is ever set to, tested at or sent a vote on `port`. */
export function isRefusedPort(port: number): boolean {
  return REFUSED_PORTS.has(port);
}
