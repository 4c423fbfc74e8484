import { describe, expect, it } from '@jest/globals';
import { type Caller, type Grant, may, maySee, permissionIds, permissions } from './permissions.ts';

const callerWith = (...grants: readonly Grant[]): Caller => ({ id: 7, name: 'mia', grants: [...grants] });

describe('may', () => {
  it('says yes to a permission without a scope, wherever it is asked for', () => {
    const caller = callerWith({ permission: 'UPDATE_FEATURE' });
    expect(may(caller, ['UPDATE_FEATURE'])).toBe(true);
    expect(may(caller, ['UPDATE_FEATURE'], { project: 'shop', environment: 'production' })).toBe(true);
  });

  it('says no to another permission, and to a caller without any', () => {
    expect(may(callerWith({ permission: 'UPDATE_FEATURE' }), ['DELETE_FEATURE'])).toBe(false);
    expect(may(callerWith(), ['UPDATE_FEATURE'])).toBe(false);
  });

  it('keeps a grant within its project', () => {
    const caller = callerWith({ permission: 'UPDATE_FEATURE', project: 'shop' });
    expect(may(caller, ['UPDATE_FEATURE'], { project: 'shop' })).toBe(true);
    expect(may(caller, ['UPDATE_FEATURE'], { project: 'bank' })).toBe(false);
    expect(may(caller, ['UPDATE_FEATURE'])).toBe(true);
  });

  it('keeps a grant within its environment', () => {
    const caller = callerWith({ permission: 'UPDATE_FEATURE_STRATEGY', project: 'shop', environment: 'development' });
    expect(may(caller, ['UPDATE_FEATURE_STRATEGY'], { project: 'shop', environment: 'development' })).toBe(true);
    expect(may(caller, ['UPDATE_FEATURE_STRATEGY'], { project: 'shop', environment: 'production' })).toBe(false);
    expect(may(caller, ['UPDATE_FEATURE_STRATEGY'], { project: 'bank', environment: 'development' })).toBe(false);
  });

  it('does not make one grant out of the project of one and the environment of another', () => {
    const caller = callerWith(
      { permission: 'UPDATE_FEATURE_STRATEGY', project: 'shop', environment: 'development' },
      { permission: 'UPDATE_FEATURE_STRATEGY', project: 'bank', environment: 'production' },
    );
    expect(may(caller, ['UPDATE_FEATURE_STRATEGY'], { project: 'shop', environment: 'production' })).toBe(false);
  });

  it('lets any of several permissions do', () => {
    expect(
      may(callerWith({ permission: 'UPDATE_PROJECT_SEGMENT' }), ['CREATE_SEGMENT', 'UPDATE_PROJECT_SEGMENT']),
    ).toBe(true);
  });

  it('lets ADMIN do everything, within the scope of the grant', () => {
    expect(may(callerWith({ permission: 'ADMIN' }), ['DELETE_PROJECT'], { project: 'shop' })).toBe(true);
    expect(may(callerWith({ permission: 'ADMIN', project: 'shop' }), ['DELETE_PROJECT'], { project: 'bank' })).toBe(
      false,
    );
  });
});

describe('maySee', () => {
  it('says no to what is hidden from the caller, and to nothing else', () => {
    expect(maySee(callerWith(), 'shop')).toBe(true);
    expect(maySee({ ...callerWith(), hiddenProjects: ['bank'] }, 'shop')).toBe(true);
    expect(maySee({ ...callerWith(), hiddenProjects: ['bank'] }, 'bank')).toBe(false);
  });
});

describe('the numbers of permissions', () => {
  it('are one for each permission', () => {
    expect(new Set(permissions.map((name) => permissionIds[name])).size).toBe(permissions.length);
  });
});
