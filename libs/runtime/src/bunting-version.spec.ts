import { expect, it } from 'vitest';
import { readFileSync } from 'node:fs';
import { buntingVersion } from './host-settings.ts';

it.each(['', 'apps/gateway/', 'apps/all-in-one/'])('the version of Bunting is that of %spackage.json', (folder) => {
  const text = readFileSync(new URL(`../../../${folder}package.json`, import.meta.url), 'utf8');
  expect(JSON.parse(text)).toMatchObject({ version: buntingVersion() });
});
