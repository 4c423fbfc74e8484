import { expect, it } from 'vitest';
import { refusalOf } from '../../test/refusal-of.ts';
import { requireWithinInstanceLimit, requireWithinProjectLimit } from './new-feature.ts';

it('a project has as many active features as its limit, and no more', () => {
  expect(() => requireWithinProjectLimit({ limit: 3, features: 3 })).not.toThrow();
  expect(refusalOf(() => requireWithinProjectLimit({ limit: 3, features: 4 })).kind).toBe('InvalidOperationError');
});

it('all projects have as many active features as the limit of the instance, and no more', () => {
  expect(() => requireWithinInstanceLimit({ limit: 3, features: 3 })).not.toThrow();
  expect(refusalOf(() => requireWithinInstanceLimit({ limit: 3, features: 4 })).kind).toBe('ExceedsLimitError');
});
