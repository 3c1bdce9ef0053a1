/** A pong of a Bedrock server up to its text, without the text's length (minecraft.wiki, "RakNet"). */
export const PONG_HEAD = Buffer.from(
  '1c0000000000000001000000000000002a00ffff00fefefefefdfdfdfd12345678',
  'hex',
);

/** The pong of a Bedrock server with these fields, as it writes them. */
export function pongOf(fields: string): Buffer {
  return Buffer.concat([
    PONG_HEAD,
    Buffer.from([fields.length >> 8, fields.length & 0xff]),
    Buffer.from(fields),
  ]);
}
