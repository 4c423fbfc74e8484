import { describe, expect, it } from 'vitest';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';

const folder = import.meta.dirname;
const importPattern = /^(?:import|export)\s+(?!type\s)(?:[^'";]*?\sfrom\s+)?'([^']+)'/gm;

/** The modules and packages that an entry of this package imports at run time, directly or indirectly. */
const importsOf = (entry: string): { readonly files: Set<string>; readonly packages: Set<string> } => {
  const files = new Set<string>();
  const packages = new Set<string>();
  const visit = (file: string): void => {
    if (files.has(file)) return;
    files.add(file);
    for (const [, specifier = ''] of readFileSync(file, 'utf8').matchAll(importPattern)) {
      if (!specifier.startsWith('.')) packages.add(specifier);
      else visit(path.resolve(path.dirname(file), specifier));
    }
  };
  visit(path.join(folder, entry));
  return { files, packages };
};

describe('the entry points of @bunting/contracts', () => {
  it('load TypeBox alone through the main entry, so that browsers can import schemas', () => {
    const { files, packages } = importsOf('index.ts');

    expect(files.size).toBeGreaterThan(50);
    expect([...files].filter((file) => !existsSync(file))).toEqual([]);
    expect([...packages]).toEqual(['typebox']);
  });

  it('load the JSON Schema compiler only through @bunting/contracts/validation', () => {
    expect([...importsOf('validation.ts').packages].sort()).toEqual(['ajv', 'ajv-formats', 'typebox']);
  });

  it('load node:crypto only through @bunting/contracts/hashing', () => {
    expect([...importsOf('hashing.ts').packages]).toEqual(['node:crypto']);
  });
});
