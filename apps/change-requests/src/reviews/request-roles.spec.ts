import { adminTokenUserId, type Caller } from '@bunting/contracts';
import { describe, expect, it } from 'vitest';
import { aRequest, kim, lee, mia } from '../../test/builders.ts';
import { noRoles, type RequestRoles, type ReviewPolicy, requestRolesByPolicy } from './request-roles.ts';

const strict: ReviewPolicy = { adminTokens: false, ownOfAdmins: false };
const request = aRequest({ createdBy: mia });
const mayDo = (permission: 'ADMIN' | 'APPROVE_CHANGE_REQUEST' | 'APPLY_CHANGE_REQUEST', environment?: string) => [
  environment === undefined ? { permission } : { permission, project: 'shop', environment },
];
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
