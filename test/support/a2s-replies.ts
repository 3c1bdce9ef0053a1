/** The fields of an answer to A2S_INFO (developer.valvesoftware.com, "Server queries"). */
export type InfoFields = {
  name?: string;
  version?: string;
  players?: number;
  max?: number;
  bots?: number;
  /** The id of the game. If `edf` has bit 0x01, its lower 24 bits also end the answer. */
  appId?: number;
  type?: number;
  os?: number;
  /** Bits that say which optional fields follow. */
  edf?: number;
  keywords?: string;
};

/** An answer to A2S_INFO in one packet, as a server of Team Fortress 2 sends it. */
export function infoReply(fields: InfoFields = {}): Buffer {
  const { name = 'A server', version = '8622567', players = 3, max = 24, bots = 0 } = fields;
  const { appId = 440, type = 0x64, os = 0x6c, edf = 0, keywords = '' } = fields;
  const text = (value: string) => Buffer.from(`${value}\0`);
  const id = Buffer.alloc(8);
  id.writeUInt32LE(appId);
  return Buffer.concat([
    Buffer.from('ffffffff4911', 'hex'),
    ...[name, 'cp_dustbowl', 'tf', 'Team Fortress'].map(text),
    id.subarray(0, 2),
    Buffer.from([players, max, bots, type, os, 0, 1]),
    Buffer.from(appId === 2_400 ? [1, 2, 3] : []),
    text(version),
    Buffer.from(edf === 0 ? [] : [edf]),
    Buffer.from(edf & 0x80 ? [0x87, 0x69] : []),
    Buffer.alloc(edf & 0x10 ? 8 : 0, 0x12),
    edf & 0x40 ? Buffer.concat([Buffer.from([0x8c, 0x69]), text('SourceTV')]) : Buffer.alloc(0),
    edf & 0x20 ? text(keywords) : Buffer.alloc(0),
    edf & 0x01 ? id : Buffer.alloc(0),
  ]);
}
