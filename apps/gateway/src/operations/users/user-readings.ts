import { implement } from '@bunting/bus';
import { CountAdmins, GetUser, ListUsers, ListUsersAndGroups, notFound, SearchUsers } from '@bunting/contracts';
import type { UnitOfWork, Work } from '../../persistence/unit-of-work.ts';
import { noSuchUser } from './change-account.ts';

/** The roles that somebody can have everywhere. */
export const rootRolesOf = async ({ roles }: Pick<Work, 'roles'>) =>
  (await roles.list()).filter(({ type }) => type === 'root' || type === 'root-custom');

export const listUsersEndpoint = (work: UnitOfWork) =>
  implement(ListUsers, (asked) =>
    work(asked, async (tx) => ({
      users: (await tx.people.list('users', asked.query)).map((user) => ({ ...user, inviteLink: '' })),
      rootRoles: await rootRolesOf(tx),
    })),
  );

export const getUserEndpoint = (work: UnitOfWork) =>
  implement(GetUser, (asked) =>
    work(asked, async ({ people }) => {
      const user = await people.read(asked.params.id, 'users');
      if (user === undefined) throw notFound(noSuchUser);
      return user;
    }),
  );

/** A single letter would list everybody. */
const shortest = 2;

export const searchUsersEndpoint = (work: UnitOfWork) =>
  implement(SearchUsers, async (asked) => {
    const beginning = asked.query.q?.trim() ?? '';
    return beginning.length < shortest ? [] : work(asked, ({ people }) => people.search(beginning));
  });

export const listUsersAndGroupsEndpoint = (work: UnitOfWork) =>
  implement(ListUsersAndGroups, (asked) =>
    work(asked, async ({ people, groups }) => ({
      users: await people.names(),
      groups: (await groups.list()).map(({ id, name, rootRole, userCount }) => ({ id, name, rootRole, userCount })),
    })),
  );

export const countAdminsEndpoint = (work: UnitOfWork) =>
  implement(CountAdmins, (asked) => work(asked, ({ people }) => people.countAdmins()));
