import { expect, it } from 'vitest';
import { featureNotInProject } from './refusals.ts';

it('the error for a missing feature mentions that it may be in another project', () => {
  expect(featureNotInProject('f', 'p').message).toBe('There\'s no feature named "f" in project "p".');
  expect(featureNotInProject('f', 'p', 'q').message).toBe(
    'There\'s no feature named "f" in project "p", but there\'s a feature with that name in project "q"',
  );
});
