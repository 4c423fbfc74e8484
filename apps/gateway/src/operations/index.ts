import type { Endpoint } from '@bunting/bus';
import type { AccessReader } from '../persistence/access-reader.ts';
import { getUsersAccessEndpoint } from './access/get-users-access.ts';
import { listHoldersEndpoint } from './access/list-holders.ts';

/** Everything that the gateway itself answers: who there is, and who may do what. */
export const gatewayEndpoints = (access: AccessReader): readonly Endpoint[] => [
  listHoldersEndpoint(access),
  getUsersAccessEndpoint(access),
];
