import { implement } from '@bunting/bus';
import { CreateGroup } from '@bunting/contracts';
import { keepGroup } from './save-group.ts';
import type { GatewayContext } from '../context.ts';

export const createGroupEndpoint = ({ work }: GatewayContext) =>
  implement(CreateGroup, (request) =>
    work(request, (tx) => keepGroup(tx, { body: request.body, by: request.caller.name })),
  );
