import { describe, expect, it } from 'vitest';
import { bodyOfGrants, grantsOf, mergeGrants, grantScopeOf } from './role-permissions.ts';

const grantOf = (name: string, environment?: string) => ({
  id: 1,
  name,
  displayName: name,
  type: 'x',
  ...(environment === undefined ? {} : { environment }),
});

describe('what a role gives', () => {
  it('is everything for an Admin', () => {
    expect(grantScopeOf({ type: 'root', permissions: [grantOf('ADMIN')] }, 'CREATE_FEATURE', 'project')).toBe('all');
  });

  it('is limited to the project default for the permissions of projects of an Editor', () => {
    const editor = { type: 'root' as const, permissions: [grantOf('CREATE_FEATURE'), grantOf('CREATE_SEGMENT')] };
    expect(grantScopeOf(editor, 'CREATE_FEATURE', 'project')).toBe('default');
    expect(grantScopeOf(editor, 'CREATE_SEGMENT', 'root')).toBe('all');
    expect(grantScopeOf(editor, 'DELETE_FEATURE', 'project')).toBe('none');
  });

  it('names the environments to which it is limited', () => {
    const name = 'UPDATE_FEATURE_ENVIRONMENT';
    const limited = { type: 'custom' as const, permissions: [grantOf(name, 'development'), grantOf(name, 'test')] };
    expect(grantScopeOf(limited, name, 'environment')).toEqual({ environments: ['development', 'test'] });
    expect(
      grantScopeOf({ type: 'custom', permissions: [...limited.permissions, grantOf(name)] }, name, 'environment'),
    ).toBe('all');
  });

  it('has the changes of two people who edited it together, so that what one of them revoked stays revoked', () => {
    const [base, edited, stored] = [
      ['A', 'B', 'C'],
      ['A', 'B', 'D'],
      ['A', 'C', 'E'],
    ].map((names) => new Set(names));
    expect([...mergeGrants(base ?? new Set(), edited ?? new Set(), stored ?? new Set())].toSorted()).toEqual([
      'A',
      'D',
      'E',
    ]);
  });

  it('is sent as it was read', () => {
    const permissions = [grantOf('CREATE_FEATURE'), grantOf('UPDATE_FEATURE_ENVIRONMENT', 'development')];
    expect(bodyOfGrants(grantsOf({ permissions }))).toEqual([
      { name: 'CREATE_FEATURE' },
      { name: 'UPDATE_FEATURE_ENVIRONMENT', environment: 'development' },
    ]);
  });
});
