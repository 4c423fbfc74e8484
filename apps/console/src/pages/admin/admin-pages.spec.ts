import {
  GetOidcSettings,
  ListApiTokens,
  ListGroups,
  ListProjectRoleHolders,
  ListRoles,
  ListRootRoleHolders,
  ListServiceAccounts,
  ListSignalEndpoints,
  ListUsers,
  permissionsFor,
} from '@bunting/contracts';
import { describe, expect, it } from 'vitest';
import { adminPages } from './admin-pages.ts';

describe('a page of administration', () => {
  it.each([
    ['users', ListUsers],
    ['groups', ListGroups],
    ['roles', ListRoles],
    ['service-accounts', ListServiceAccounts],
    ['api-tokens', ListApiTokens],
    ['sign-in', GetOidcSettings],
    ['signals', ListSignalEndpoints],
  ] as const)('is offered to those alone who may read what it is about: %s', (id, operation) => {
    expect(adminPages.find((page) => page.id === id)?.readers).toEqual(permissionsFor(operation));
  });

  it('about who may do what is offered to those who may read it in one of the projects, or everywhere', () => {
    const readers = adminPages.find(({ id }) => id === 'access')?.readers;
    expect(readers).toEqual([ListRootRoleHolders, ListProjectRoleHolders].flatMap(permissionsFor));
  });
});
