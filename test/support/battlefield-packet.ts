/** A response of Frostbite's remote administration (Battlefield, Venice Unleashed): the words with their lengths. */
export function battlefieldPacket(words: string[]): Buffer {
  const encoded = words.flatMap((word) => {
    const size = Buffer.alloc(4);
    size.writeUInt32LE(word.length);
    return [size, Buffer.from(`${word}\0`)];
  });
  const header = Buffer.alloc(12);
  header.writeUInt32LE(0x40000000, 0);
  header.writeUInt32LE(12 + Buffer.concat(encoded).length, 4);
  header.writeUInt32LE(words.length, 8);
  return Buffer.concat([header, ...encoded]);
}
