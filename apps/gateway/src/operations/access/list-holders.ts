import { implement } from '@bunting/bus';
import { ListHolders } from '@bunting/contracts';
import type { AccessReader } from '../../persistence/access-reader.ts';

export const listHoldersEndpoint = (access: AccessReader) =>
  implement(ListHolders, async ({ body: { permissions, project, environment } }) => ({
    users: await access.holders(permissions, project, environment),
  }));
