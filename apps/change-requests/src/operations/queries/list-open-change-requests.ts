import { implement } from '@bunting/bus';
import { ListOpenChangeRequests } from '@bunting/contracts';
import type { ChangeRequestsContext } from '../context.ts';
import { pendingOf } from './list-pending-change-requests.ts';

/** `list-pending-change-requests` under its former path. */
export const listOpenChangeRequestsEndpoint = ({ bus, reader }: ChangeRequestsContext) =>
  implement(ListOpenChangeRequests, (request) => pendingOf(bus, reader, request));
