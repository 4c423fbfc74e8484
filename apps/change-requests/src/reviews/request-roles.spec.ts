import { adminTokenUserId, type Caller } from '@bunting/contracts';
import { describe, expect, it } from 'vitest';
import { aRequest, kim, lee, mia } from '../../test/builders.ts';
import { statesToApply, statesToReview } from '../states/state-machine.ts';
import {
  countActionable,
  noRoles,
  type RequestRoles,
  requestRolesByPolicy,
  type ReviewPolicy,
} from './request-roles.ts';

const strict: ReviewPolicy = { adminTokens: false, ownOfAdmins: false };
const request = aRequest({ createdBy: mia });
function mayDo(permission: 'ADMIN' | 'APPROVE_CHANGE_REQUEST' | 'APPLY_CHANGE_REQUEST', environment?: string) {
  return [environment === undefined ? { permission } : { permission, project: 'shop', environment }];
}
const administrator = { ...noRoles, isAdministrator: true, mayReviewAsAdmin: true, reviewer: true, applier: true };
const adminToken = { id: adminTokenUserId, name: 'admin', grants: mayDo('ADMIN') };

describe('the roles for a change request', () => {
  it.each<readonly [string, Caller, ReviewPolicy, RequestRoles]>([
    ['of its author', { ...mia, grants: [] }, strict, { ...noRoles, author: true }],
    ['of another user', { ...kim, grants: [] }, strict, noRoles],
    [
      'of a user who may approve in its environment',
      { ...lee, grants: mayDo('APPROVE_CHANGE_REQUEST', 'production') },
      strict,
      { ...noRoles, reviewer: true },
    ],
    [
      'of a user who may approve in another environment',
      { ...lee, grants: mayDo('APPROVE_CHANGE_REQUEST', 'staging') },
      strict,
      noRoles,
    ],
    [
      'of a user who may apply',
      { ...lee, grants: mayDo('APPLY_CHANGE_REQUEST') },
      strict,
      { ...noRoles, applier: true },
    ],
    ['of an administrator', { ...lee, grants: mayDo('ADMIN') }, strict, administrator],
    [
      'of an administrator who is its author, and may not review it',
      { ...mia, grants: mayDo('ADMIN') },
      strict,
      { ...administrator, author: true, mayReviewAsAdmin: false },
    ],
    [
      'of an administrator who is its author, with CHANGE_REQUESTS_ADMINS_REVIEW_OWN',
      { ...mia, grants: mayDo('ADMIN') },
      { ...strict, ownOfAdmins: true },
      { ...administrator, author: true },
    ],
    [
      'of an admin token, which may not review',
      adminToken,
      strict,
      { ...administrator, mayReviewAsAdmin: false, reviewer: false },
    ],
    [
      'of an admin token, with CHANGE_REQUESTS_ADMIN_TOKENS_REVIEW',
      adminToken,
      { ...strict, adminTokens: true },
      administrator,
    ],
  ])('%s', (_, caller, policy, expected) => {
    expect(requestRolesByPolicy(policy)(caller, request)).toEqual(expected);
  });
});

const others = { environment: 'production', own: false, affectsAll: false, toReview: 2, toApply: 10 };
const own = { ...others, own: true };

describe('the requests that a caller can act on', () => {
  it.each([
    ['nothing without a role', others, {}, 0],
    ['those to review, for a reviewer', others, { reviewer: true }, 2],
    ['none of their own to review, for a reviewer', own, { reviewer: true, author: true }, 0],
    ['those to apply, for an applier, own or not', own, { applier: true, author: true }, 10],
    ['all, for an administrator who may review', own, { author: true, mayReviewAsAdmin: true }, 12],
    ['all, for a reviewer who may apply', others, { reviewer: true, applier: true }, 12],
  ])('are %s', (_rule, counted, roles, total) => {
    expect(countActionable([counted], () => ({ ...noRoles, ...roles }))).toBe(total);
  });

  it('are not those for which the permission is missing in an environment that they affect', () => {
    const missing = { approve: 'staging', apply: 'staging' };
    const roles = { ...noRoles, reviewer: true, applier: true, missing };
    expect(
      countActionable([others, { ...others, affectsAll: true }], ({ affectsAll }) =>
        affectsAll ? roles : { ...roles, missing: noRoles.missing },
      ),
    ).toBe(12);
  });

  it('are summed over environments, each with the roles that the caller has there', () => {
    const counts = [others, { ...others, environment: 'development' }];
    const rolesFor = ({ environment }: typeof others) => ({ ...noRoles, reviewer: environment === 'production' });
    expect(countActionable(counts, rolesFor)).toBe(2);
  });

  it('are in review, or approved or scheduled', () => {
    expect(statesToReview).toEqual(['In review']);
    expect(statesToApply).toEqual(['Approved', 'Scheduled']);
  });
});
