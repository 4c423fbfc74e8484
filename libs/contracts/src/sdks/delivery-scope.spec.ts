import { expect, it } from 'vitest';
import { announcesClientSpec } from './delivery-scope.ts';

it.each([
  ['4.2.0', true],
  ['4.10', true],
  ['5', true],
  ['4.1.9', false],
  ['4', false],
  ['', false],
  ['nonsense', false],
  [undefined, false],
])('an SDK that names version %j of the client specification supports 4.2: %j', (clientSpec, isSupported) => {
  expect(announcesClientSpec(clientSpec, [4, 2])).toBe(isSupported);
});
