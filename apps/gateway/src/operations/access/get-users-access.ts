import { implement } from '@bunting/bus';
import { GetUsersAccess } from '@bunting/contracts';
import type { AccessReader } from '../../persistence/access-reader.ts';

export const getUsersAccessEndpoint = (access: AccessReader) =>
  implement(GetUsersAccess, async ({ body: { ids } }) => ({ users: await access.ofUsers(ids) }));
