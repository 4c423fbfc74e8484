import type { Access, Caller } from '@bunting/contracts';
import { authorise } from './authorise.ts';

/**
 * Authorises access to an object that belongs to no project: permissions within a project or an environment do not count.
 * @throws Refusal `NoAccessError`.
 */
export const authoriseAtRoot = (caller: Caller, access: Access): void => {
  const grants = caller.grants.filter(({ project, environment }) => project === undefined && environment === undefined);
  authorise({ ...caller, grants }, access, {});
};
