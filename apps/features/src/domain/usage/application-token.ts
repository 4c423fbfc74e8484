import type { Caller } from '@bunting/contracts';

// What the token of an application says of where it is good. An admin token is good everywhere.

const ofApplications: readonly string[] = ['CLIENT', 'FRONTEND'];

/** The environment that a token is bound to; an admin token is bound to none. */
export const boundEnvironment = ({ grants }: Caller): string | undefined =>
  grants.find(({ permission, environment }) => ofApplications.includes(permission) && environment !== undefined)
    ?.environment;

/** The environment that an application asks for: that of its token, else the one it names, else `default`. */
export const environmentFor = (caller: Caller, request: string | undefined): string =>
  boundEnvironment(caller) ?? request ?? 'default';

/** The projects that a token is for, `*` for all. */
export const projectsOf = ({ grants }: Caller): readonly string[] => {
  const projects = grants
    .filter(({ permission }) => ofApplications.includes(permission) || permission === 'ADMIN')
    .map(({ project }) => project ?? '*');
  return projects.includes('*') ? ['*'] : projects;
};
