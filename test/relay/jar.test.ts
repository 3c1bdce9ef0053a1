import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { hashOfSources, JAR, readJar } from '../../relay/build.ts';

const jar = readFileSync(JAR);
const entries = readJar(jar);
const manifest = entries.find(({ name }) => name === 'META-INF/MANIFEST.MF')?.bytes.toString() ?? '';
const inManifest = (field: string) => new RegExp(`^${field}: (.*)\r$`, 'm').exec(manifest)?.[1];

describe('the committed jar', () => {
  test('is built from the committed sources', () => {
    expect(inManifest('Tallyport-Sources'), 'run npm run relay').toBe(hashOfSources());
  });

  test('is small, for Java 8, and has none of the classes that the server brings', () => {
    expect(jar.length).toBeLessThan(100_000);
    const names = entries.map(({ name }) => name);
    expect(names.slice(0, 3)).toEqual(['META-INF/MANIFEST.MF', 'plugin.yml', 'tallyport/relay/version.txt']);
    const classes = entries.slice(3);
    expect(classes.every(({ name }) => /^tallyport\/relay\/[A-Z][\w$]+\.class$/.test(name))).toBe(true);
    // The major version of a class file: 52 is Java 8.
    expect(new Set(classes.map(({ bytes }) => bytes.readUInt16BE(6)))).toEqual(new Set([52]));
  });

  test('names one version: in the manifest, for Bukkit and for itself', () => {
    const text = (name: string) => entries.find((entry) => entry.name === name)?.bytes.toString() ?? '';
    const version = text('tallyport/relay/version.txt').trim();
    expect(version).toMatch(/^\d+\.\d+\.\d+$/);
    expect(inManifest('Implementation-Version')).toBe(version);
    expect(text('plugin.yml')).toContain(`version: '${version}'`);
  });
});
