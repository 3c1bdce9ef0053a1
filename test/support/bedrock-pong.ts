/**
 * The beginning of a Bedrock server's pong, up to its text and without the text's length (minecraft.wiki, "RakNet").
 */
export const PONG_HEAD = Buffer.from(
  '1c0000000000000001000000000000002a00ffff00fefefefefdfdfdfd12345678',
  'hex',
);

/** A complete pong of a Bedrock server whose text is `fields`. */
export function pongOf(fields: string): Buffer {
  return Buffer.concat([
    PONG_HEAD,
    Buffer.from([fields.length >> 8, fields.length & 0xff]),
    Buffer.from(fields),
  ]);
}
