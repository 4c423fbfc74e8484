import { describe, expect, it } from '@jest/globals';
import { type Caller, may, permissions } from '@bunting/contracts';
import { grantsOfRole, grantsOfToken, mayAdminister, type RootRole } from './access.ts';

const asRole = (role: RootRole): Caller => ({ id: 1, name: 'one', grants: [...grantsOfRole(role)] });

describe('a root role', () => {
  it('of an Admin gives everything everywhere', () => {
    for (const permission of permissions)
      expect(may(asRole('admin'), [permission], { project: 'any', environment: 'any' })).toBe(true);
  });

  it('of a Viewer gives nothing', () => {
    for (const permission of permissions) expect(may(asRole('viewer'), [permission])).toBe(false);
  });

  it('of an Editor gives the catalogue everywhere, and the project default as to its owner', () => {
    const editor = asRole('editor');
    expect(may(editor, ['CREATE_SEGMENT'])).toBe(true);
    expect(may(editor, ['CREATE_PROJECT'])).toBe(true);
    for (const environment of ['development', 'production', 'another']) {
      expect(may(editor, ['UPDATE_FEATURE_STRATEGY'], { project: 'default', environment })).toBe(true);
      expect(may(editor, ['UPDATE_FEATURE_STRATEGY'], { project: 'other', environment })).toBe(false);
    }
  });

  it.each([
    'ADMIN',
    'CREATE_CLIENT_API_TOKEN',
    'APPROVE_CHANGE_REQUEST',
    'APPLY_CHANGE_REQUEST',
    'SKIP_CHANGE_REQUEST',
    'READ_ROLE',
  ] as const)('of an Editor does not give %s', (permission) => {
    expect(may(asRole('editor'), [permission], { project: 'default' })).toBe(false);
  });
});

describe('a token', () => {
  it('of an administrator gives everything', () => {
    expect(grantsOfToken({ kind: 'admin', projects: ['*'], environment: '*' })).toEqual([{ permission: 'ADMIN' }]);
    expect(mayAdminister('admin')).toBe(true);
  });

  it('of an application gives only what applications ask, where the token says', () => {
    expect(grantsOfToken({ kind: 'client', projects: ['*'], environment: 'development' })).toEqual([
      { permission: 'CLIENT', environment: 'development' },
    ]);
    expect(grantsOfToken({ kind: 'frontend', projects: ['a', 'b'], environment: 'production' })).toEqual([
      { permission: 'FRONTEND', project: 'a', environment: 'production' },
      { permission: 'FRONTEND', project: 'b', environment: 'production' },
    ]);
    expect([mayAdminister('client'), mayAdminister('frontend'), mayAdminister('user')]).toEqual([false, false, true]);
  });
});
