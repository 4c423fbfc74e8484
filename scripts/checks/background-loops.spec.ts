import { expect, it } from '@jest/globals';
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';

const root = path.join(import.meta.dirname, '../..');
const textOf = (file: string): string => readFileSync(path.join(root, file), 'utf8');

it('the table of background loops names every file that starts one, and no other file', () => {
  const starting = globSync(['apps/*/src/**/*.ts', 'libs/*/src/**/*.ts'], { cwd: root })
    .map((file) => file.replaceAll(path.sep, '/'))
    .filter((file) => !file.endsWith('.spec.ts') && !file.startsWith('libs/runtime/'))
    .filter((file) => /\bstartLoop\b/.test(textOf(file)));
  const [, section = ''] = textOf('CONTRIBUTING.md').split('## Background loops\n');
  const [table = ''] = section.split('\n## ');
  const listed = [...table.matchAll(/`((?:apps|libs)\/[^`]+\.ts)`/g)].map(([, file]) => file);
  expect(listed.toSorted()).toEqual(starting.toSorted());
});
