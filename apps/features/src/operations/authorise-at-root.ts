import { type Access, type Caller, rootScope } from '@bunting/contracts';
import { authorise } from './authorise.ts';

/**
 * Authorises access to an object that belongs to no project: permissions within a project or an environment do not count.
 * @throws Refusal `NoAccessError`.
 */
export const authoriseAtRoot = (caller: Caller, access: Access): void => authorise(caller, access, rootScope);
