import { implement } from '@bunting/bus';
import { CreateGroup } from '@bunting/contracts';
import { saveGroup } from '../../operations/groups/save-group.ts';
import type { GatewayContext } from '../context.ts';

export const createGroupEndpoint = ({ transaction }: GatewayContext) =>
  implement(CreateGroup, (request) =>
    transaction(request, (tx) => saveGroup(tx, { body: request.body, changedBy: request.caller.name })),
  );
