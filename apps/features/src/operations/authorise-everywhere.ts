import type { Access, Caller } from '@bunting/contracts';
import { authorise } from './authorise.ts';

/**
 * Decides on what belongs to no project: a right within one project or environment is not enough for it.
 * @throws Refusal `NoAccessError`.
 */
export const authoriseEverywhere = (caller: Caller, access: Access): void => {
  const grants = caller.grants.filter(({ project, environment }) => project === undefined && environment === undefined);
  authorise({ ...caller, grants }, access, {});
};
