import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { crc32, deflateRawSync, inflateRawSync } from 'node:zlib';

/** A file of the jar. */
export type JarEntry = { name: string; bytes: Buffer };

const RELAY = fileURLToPath(new URL('.', import.meta.url));

/** The jar as it is committed. */
export const JAR = join(RELAY, 'tallyport-relay.jar');

/** The paths of all files in a folder of `relay/`, with slashes, in the same order everywhere. */
function filesIn(folder: string): string[] {
  const found = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((file) => file.isFile());
  const paths = found.map((file) => join(file.parentPath, file.name).slice(folder.length + 1));
  return paths.map((path) => path.replaceAll('\\', '/')).toSorted();
}

/** The SHA-256 of everything that the jar is made of, in base64. It is in the jar's manifest. */
export function hashOfSources(): string {
  const hash = createHash('sha256');
  for (const folder of ['resources', 'src', 'stubs']) {
    for (const path of filesIn(join(RELAY, folder))) {
      const text = readFileSync(join(RELAY, folder, path), 'utf8').replaceAll('\r\n', '\n');
      hash.update(`${folder}/${path}\n${text.length}\n${text}`);
    }
  }
  return hash.digest('base64');
}

/** The version of the installed javac, such as `17.0.15`, or undefined. */
export function javacVersion(): string | undefined {
  try {
    return execFileSync('javac', ['-version'], { encoding: 'utf8' }).trim().replace('javac ', '');
  } catch {
    return undefined;
  }
}

/**
 * Compiles the relay for Java 8 and returns the bytes of its jar. The same sources and the same javac give the same
 * bytes: entries are sorted and all from 1980-01-01. Another zlib may compress them to other bytes.
 */
export function buildJar(): Buffer {
  const javac = javacVersion();
  if (!javac) throw new Error('javac is needed: install a JDK');
  const work = mkdtempSync(join(tmpdir(), 'tallyport-relay-'));
  try {
    compile(['src', 'stubs'], work);
    const plugin = readFileSync(join(RELAY, 'resources/plugin.yml'));
    const version = /^version: '(.+)'$/m.exec(plugin.toString())?.[1] ?? '';
    const manifest = [
      'Manifest-Version: 1.0',
      'Main-Class: tallyport.relay.Main',
      `Implementation-Version: ${version}`,
      `Tallyport-Javac: ${javac}`,
      `Tallyport-Sources: ${hashOfSources()}`,
    ];
    // The server has the real classes of Bukkit: the stubs are compiled, but not packed.
    const ours = filesIn(work).filter((name) => name.startsWith('tallyport/'));
    const classes = ours.map((name) => ({ name, bytes: readFileSync(join(work, name)) }));
    return zip([
      { name: 'META-INF/MANIFEST.MF', bytes: Buffer.from(`${manifest.join('\r\n')}\r\n\r\n`) },
      { name: 'plugin.yml', bytes: plugin },
      { name: 'tallyport/relay/version.txt', bytes: Buffer.from(`${version}\n`) },
      ...classes,
    ]);
  } finally {
    rmSync(work, { recursive: true });
  }
}

/** Options with which javac needs half of the processor time. */
export const QUICK_JAVAC = ['-J-XX:TieredStopAtLevel=1', '-J-XX:+UseSerialGC'];

function compile(folders: string[], target: string): void {
  const sources = folders.flatMap((folder) =>
    filesIn(join(RELAY, folder)).map((path) => join(RELAY, folder, path)),
  );
  const options = ['--release', '8', '-encoding', 'UTF-8', '-g:source,lines', '-Xlint:all,-options,-serial'];
  execFileSync('javac', [...QUICK_JAVAC, ...options, '-d', target, ...sources], { stdio: 'inherit' });
}

/** 1980-01-01, the first date that a zip knows. */
const DATE = 0x21;

const DEFLATED = 8;

function zip(entries: JarEntry[]): Buffer {
  const files: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const { name, bytes } of entries) {
    const packed = deflateRawSync(bytes, { level: 9 });
    const common = Buffer.alloc(26);
    common.writeUInt16LE(20, 0);
    common.writeUInt16LE(DEFLATED, 4);
    common.writeUInt16LE(DATE, 8);
    common.writeUInt32LE(crc32(bytes), 10);
    common.writeUInt32LE(packed.length, 14);
    common.writeUInt32LE(bytes.length, 18);
    common.writeUInt16LE(name.length, 22);
    const file = Buffer.concat([Buffer.from('PK\x03\x04'), common, Buffer.from(name), packed]);
    const place = Buffer.alloc(14);
    place.writeUInt32LE(offset, 10);
    directory.push(Buffer.concat([Buffer.from('PK\x01\x02\x14\x00'), common, place, Buffer.from(name)]));
    files.push(file);
    offset += file.length;
  }
  const end = Buffer.alloc(18);
  end.writeUInt16LE(entries.length, 4);
  end.writeUInt16LE(entries.length, 6);
  end.writeUInt32LE(Buffer.concat(directory).length, 8);
  end.writeUInt32LE(offset, 12);
  return Buffer.concat([...files, ...directory, Buffer.from('PK\x05\x06'), end]);
}

/** The entries of a jar that `buildJar` made. */
export function readJar(jar: Buffer): JarEntry[] {
  const entries: JarEntry[] = [];
  for (let at = 0; jar.readUInt32LE(at) === 0x04034b50; ) {
    const size = jar.readUInt32LE(at + 18);
    const start = at + 30 + jar.readUInt16LE(at + 26);
    entries.push({
      name: jar.toString('utf8', at + 30, start),
      bytes: inflateRawSync(jar.subarray(start, start + size)),
    });
    at = start + size;
  }
  return entries;
}

if (import.meta.main) {
  writeFileSync(JAR, buildJar());
  console.log(`${JAR}: ${readFileSync(JAR).length} bytes`);
}
