import { describe, expect, it } from 'vitest';
import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';

const web = path.join(import.meta.dirname, '..', '..', 'dist', 'web');

interface Chunk {
  readonly file: string;
  readonly imports?: readonly string[];
  readonly dynamicImports?: readonly string[];
  readonly isEntry?: true;
}

const manifest = JSON.parse(readFileSync(path.join(web, 'manifest.json'), 'utf8')) as Record<string, Chunk>;

/** A chunk with everything that it imports, which the browser loads together. */
function closure(key: string, into = new Set<string>()): Set<string> {
  const chunk = manifest[key];
  if (chunk === undefined || into.has(key)) return into;
  into.add(key);
  for (const one of chunk.imports ?? []) closure(one, into);
  return into;
}

function kilobytes(keys: Iterable<string>): number {
  const files = new Set([...keys].map((key) => manifest[key]?.file ?? '').filter((file) => file.endsWith('.js')));
  return [...files].reduce((sum, file) => sum + statSync(path.join(web, `${file}.br`)).size / 1000, 0);
}

const entry = Object.keys(manifest).find((key) => manifest[key]?.isEntry === true) ?? '';
const first = new Set([...closure(entry), ...closure('src/pages/flags/flags-page.tsx')]);

describe('the JavaScript of the console', () => {
  it('is at most 200 kB of brotli for the first load, with the list of flags', () => {
    expect(first.size).toBeGreaterThan(1);
    expect(kilobytes(first)).toBeLessThanOrEqual(200);
  });

  it('is at most twenty files for the first load', () => {
    expect(first.size).toBeLessThanOrEqual(20);
  });

  it('is at most 70 kB of brotli more for each other part, beyond what the page that asks for it has loaded', () => {
    const parts = Object.keys(manifest).filter((key) => manifest[key]?.file.endsWith('.js') && !first.has(key));
    expect(parts.length).toBeGreaterThan(2);
    const loadedBefore = (part: string): ReadonlySet<string> => {
      const pages = Object.keys(manifest).filter((key) => manifest[key]?.dynamicImports?.includes(part) === true);
      return new Set([...first, ...(pages.length === 1 ? closure(pages[0] ?? '') : [])]);
    };
    const large = parts
      .map((key) => ({ key, size: kilobytes([...closure(key)].filter((one) => !loadedBefore(key).has(one))) }))
      .filter(({ size }) => size > 70)
      .map(({ key, size }) => `${key} adds ${size.toFixed(0)} kB`);
    expect(large).toEqual([]);
  });
});
