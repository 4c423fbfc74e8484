import { describe, expect, it } from 'vitest';
import type { Grant } from '@bunting/contracts';
import { isGranted } from './grants.ts';

const [shop, pay, test, production] = ['shop', 'pay', 'test', 'production'];
const everywhere: Grant = { permission: 'CREATE_PROJECT' };
const inShop: Grant = { permission: 'CREATE_FEATURE', project: shop };
const inTest: Grant = { permission: 'UPDATE_FEATURE_ENVIRONMENT', project: shop, environment: test };
const inAllTests: Grant = { permission: 'UPDATE_FEATURE_ENVIRONMENT', environment: test };

describe('a permission', () => {
  it.each([
    ['holds in a project and in none', [everywhere], 'CREATE_PROJECT', [{}, { project: shop }], []],
    ['holds in its project alone', [inShop], 'CREATE_FEATURE', [{ project: shop }], [{ project: pay }, {}]],
    [
      'holds in its environment alone',
      [inTest],
      'UPDATE_FEATURE_ENVIRONMENT',
      [{ project: shop, environment: test }],
      [{ project: shop, environment: production }, { project: pay, environment: test }, { project: shop }, {}],
    ],
    [
      'holds in an environment of every project',
      [inShop, inAllTests],
      'UPDATE_FEATURE_ENVIRONMENT',
      [{ project: pay, environment: test }, { environment: test }],
      [{ project: pay, environment: production }, {}],
    ],
    [
      'is included in that of an administrator',
      [{ permission: 'ADMIN' }],
      'CREATE_FEATURE',
      [{}, { project: pay }],
      [],
    ],
  ] as const)('%s', (_rule, grants, permission, where, notWhere) => {
    for (const scope of where) expect([scope, isGranted(grants, permission, scope)]).toEqual([scope, true]);
    for (const scope of notWhere) expect([scope, isGranted(grants, permission, scope)]).toEqual([scope, false]);
  });

  it('is looked up among the grants of its project, however many others there are', () => {
    let reads = 0;
    const grants = Array.from({ length: 1_000 }, (_, nth): Grant => ({
      project: `project-${nth}`,
      get permission(): Grant['permission'] {
        reads += 1;
        return 'CREATE_FEATURE';
      },
    }));
    for (const { project = '' } of grants) {
      expect(isGranted(grants, 'CREATE_FEATURE', { project })).toBe(true);
      expect(isGranted(grants, 'DELETE_FEATURE', { project })).toBe(false);
    }
    expect(reads).toBeLessThanOrEqual(4 * grants.length);
  });
});
