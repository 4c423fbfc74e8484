import { describe, expect, it } from 'vitest';
import { permissionCatalogue } from './permission-catalogue.ts';
import {
  anyScope,
  authorise,
  type Caller,
  type Grant,
  isAdministrator,
  may,
  maySee,
  permissionIds,
  permissions,
  requireMayPropose,
  rootScope,
} from './permissions.ts';

const callerWith = (...grants: readonly Grant[]): Caller => ({ id: 7, name: 'mia', grants: [...grants] });

describe('may', () => {
  it('allows a permission without a scope everywhere', () => {
    const caller = callerWith({ permission: 'UPDATE_FEATURE' });
    expect(may(caller, ['UPDATE_FEATURE'], anyScope)).toBe(true);
    expect(may(caller, ['UPDATE_FEATURE'], { project: 'shop', environment: 'production' })).toBe(true);
  });

  it('denies another permission, and a caller without any', () => {
    expect(may(callerWith({ permission: 'UPDATE_FEATURE' }), ['DELETE_FEATURE'], anyScope)).toBe(false);
    expect(may(callerWith(), ['UPDATE_FEATURE'], anyScope)).toBe(false);
  });

  it('keeps a grant within its project', () => {
    const caller = callerWith({ permission: 'UPDATE_FEATURE', project: 'shop' });
    expect(may(caller, ['UPDATE_FEATURE'], { project: 'shop' })).toBe(true);
    expect(may(caller, ['UPDATE_FEATURE'], { project: 'bank' })).toBe(false);
    expect(may(caller, ['UPDATE_FEATURE'], anyScope)).toBe(true);
  });

  it('counts a grant within a project or an environment not for what belongs to no project', () => {
    for (const scope of [{ project: 'shop' }, { environment: 'production' }])
      expect(may(callerWith({ permission: 'UPDATE_FEATURE', ...scope }), ['UPDATE_FEATURE'], rootScope)).toBe(false);
    expect(may(callerWith({ permission: 'UPDATE_FEATURE' }), ['UPDATE_FEATURE'], rootScope)).toBe(true);
  });

  it('keeps a grant within its environment', () => {
    const caller = callerWith({ permission: 'UPDATE_FEATURE_STRATEGY', project: 'shop', environment: 'development' });
    expect(may(caller, ['UPDATE_FEATURE_STRATEGY'], { project: 'shop', environment: 'development' })).toBe(true);
    expect(may(caller, ['UPDATE_FEATURE_STRATEGY'], { project: 'shop', environment: 'production' })).toBe(false);
    expect(may(caller, ['UPDATE_FEATURE_STRATEGY'], { project: 'bank', environment: 'development' })).toBe(false);
  });

  it('does not combine the project of one grant with the environment of another', () => {
    const caller = callerWith(
      { permission: 'UPDATE_FEATURE_STRATEGY', project: 'shop', environment: 'development' },
      { permission: 'UPDATE_FEATURE_STRATEGY', project: 'bank', environment: 'production' },
    );
    expect(may(caller, ['UPDATE_FEATURE_STRATEGY'], { project: 'shop', environment: 'production' })).toBe(false);
  });

  it('allows with any of several permissions', () => {
    expect(
      may(callerWith({ permission: 'UPDATE_PROJECT_SEGMENT' }), ['CREATE_SEGMENT', 'UPDATE_PROJECT_SEGMENT'], anyScope),
    ).toBe(true);
  });

  it('allows everything with ADMIN, within the scope of the grant', () => {
    expect(may(callerWith({ permission: 'ADMIN' }), ['DELETE_PROJECT'], { project: 'shop' })).toBe(true);
    expect(may(callerWith({ permission: 'ADMIN', project: 'shop' }), ['DELETE_PROJECT'], { project: 'bank' })).toBe(
      false,
    );
  });
});

describe('authorise', () => {
  const caller = callerWith({ permission: 'UPDATE_FEATURE', project: 'shop' });

  it('refuses a caller without any of the permissions in the scope, and names the permissions and the environment', () => {
    const bank = { project: 'bank', environment: 'production' };
    expect(() => authorise(caller, ['UPDATE_FEATURE', 'DELETE_FEATURE'], bank)).toThrow(
      expect.objectContaining({
        kind: 'NoAccessError',
        permissions: ['UPDATE_FEATURE', 'DELETE_FEATURE'],
        message: expect.stringMatching(/"UPDATE_FEATURE", "DELETE_FEATURE" in the "production" environment\.$/),
      }),
    );
    expect(() => authorise(caller, 'UPDATE_FEATURE', rootScope)).toThrow(/the "UPDATE_FEATURE" permission\.$/);
    expect(() => authorise(caller, ['UPDATE_FEATURE', 'DELETE_FEATURE'], { project: 'shop' })).not.toThrow();
  });

  it('permits every caller what requires no permission', () => {
    for (const access of ['authenticated', 'proposer', 'public', 'service'] as const)
      expect(() => authorise(callerWith(), access, rootScope)).not.toThrow();
  });
});

describe('isAdministrator', () => {
  it('needs a grant of ADMIN that holds everywhere', () => {
    expect(isAdministrator(callerWith({ permission: 'ADMIN' }))).toBe(true);
    expect(isAdministrator(callerWith({ permission: 'ADMIN', project: 'shop' }))).toBe(false);
    expect(isAdministrator(callerWith({ permission: 'CREATE_PROJECT' }))).toBe(false);
  });
});

describe('maySee', () => {
  it('denies exactly the projects that are hidden from the caller', () => {
    expect(maySee(callerWith(), 'shop')).toBe(true);
    expect(maySee({ ...callerWith(), hiddenProjects: ['bank'] }, 'shop')).toBe(true);
    expect(maySee({ ...callerWith(), hiddenProjects: ['bank'] }, 'bank')).toBe(false);
  });
});

describe('requireMayPropose', () => {
  it('refuses exactly the protected projects that the caller is no member of', () => {
    const outsider: Caller = { ...callerWith(), proposalDeniedProjects: ['bank'] };
    expect(() => requireMayPropose(outsider, 'bank')).toThrow(/^The project is protected/);
    expect(() => requireMayPropose(outsider, 'shop')).not.toThrow();
    expect(() => requireMayPropose(callerWith(), 'bank')).not.toThrow();
  });
});

describe('the bits of permissions', () => {
  it('differ between any two permissions', () => {
    expect(new Set(permissions.map((name) => permissionIds[name])).size).toBe(permissions.length);
  });
});

describe('the catalogue of permissions', () => {
  it('has every permission that a custom role can grant', () => {
    const ungrantable = ['ADMIN', 'CLIENT', 'FRONTEND'];
    expect([...permissionCatalogue.keys(), ...ungrantable].toSorted()).toEqual([...permissions].toSorted());
  });
});
