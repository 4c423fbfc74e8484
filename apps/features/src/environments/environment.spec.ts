import { expect, it } from 'vitest';
import { refusalOf } from '../../test/builders.ts';
import { fixedResourceLimits } from '../names.ts';
import {
  clonedEnvironment,
  deleteEnvironment,
  newEnvironment,
  projectsOfClone,
  requireProjectsFound,
  type StoredEnvironment,
  switchEnvironment,
} from './environment.ts';

const staging: StoredEnvironment = {
  name: 'staging',
  type: 'test',
  sortOrder: 4,
  enabled: true,
  protected: false,
  requiredApprovals: 2,
  color: 'teal',
};
const existing = { count: 3, highestSortOrder: 4 };

it('a new environment comes after the existing ones, unless the request has a sort order', () => {
  expect(newEnvironment({ name: 'qa', type: 'test' }, existing).environment.sortOrder).toBe(5);
  expect(newEnvironment({ name: 'qa', type: 'test', sortOrder: 1 }, existing).environment.sortOrder).toBe(1);
});

it('the clone of an environment has its type and required approvals but no colour, and can be deleted', () => {
  const clone = { ...staging, name: 'qa', sortOrder: 5, color: null };
  expect(clonedEnvironment({ ...staging, protected: true }, { name: 'qa' }, existing)).toEqual({
    environment: clone,
    events: [{ type: 'environment-created', environment: 'qa', data: clone }],
  });
});

it('an environment beyond the limit is refused', () => {
  const full = { count: fixedResourceLimits.environments, highestSortOrder: 4 };
  expect(refusalOf(() => newEnvironment({ name: 'qa', type: 'test' }, full)).kind).toBe('ExceedsLimitError');
  expect(refusalOf(() => clonedEnvironment(staging, { name: 'qa' }, full)).kind).toBe('ExceedsLimitError');
});

it('an environment is cloned into the named projects, or into all that have it', () => {
  expect(projectsOfClone({ projects: ['shop'] })).toEqual(['shop']);
  expect([projectsOfClone({}), projectsOfClone({ projects: ['shop', '*'] })]).toEqual([null, null]);
});

it('an environment is not cloned into a project that does not exist', () => {
  expect(refusalOf(() => requireProjectsFound(['shop', 'moon'], ['shop'])).details).toMatchObject([
    { path: '/body/projects/1' },
  ]);
  expect(() => requireProjectsFound(['shop'], ['shop'])).not.toThrow();
  expect(() => requireProjectsFound(null, [])).not.toThrow();
});

it('an environment that is switched on or off already is the same', () => {
  expect(switchEnvironment(staging, false)).toEqual({ ...staging, enabled: false });
  expect(switchEnvironment(staging, true)).toBe(staging);
});

it('an environment that is deleted emits its last state', () => {
  expect(deleteEnvironment(staging, ['shop'], { total: 0, first: [] })).toEqual([
    { type: 'project-environment-removed', project: 'shop', environment: 'staging' },
    { type: 'environment-deleted', environment: 'staging', preData: staging },
  ]);
});

it('a protected environment cannot be deleted', () => {
  expect(
    refusalOf(() => deleteEnvironment({ ...staging, protected: true }, [], { total: 0, first: [] })),
  ).toMatchObject({
    kind: 'OperationDeniedError',
    message: 'The environment staging is protected and cannot be deleted',
  });
});

it('an environment in which features are on cannot be deleted, and the error names ten of them', () => {
  const first = Array.from({ length: 11 }, (_, nth) => ({ name: `f${nth}`, project: 'shop' }));
  const refused = refusalOf(() => deleteEnvironment(staging, ['shop'], { total: 12, first }));
  expect(refused.kind).toBe('ConflictError');
  expect(refused.message).toMatch(/: f0 \(project shop\), f1 .* f9 \(project shop\) and 2 more$/);
});
