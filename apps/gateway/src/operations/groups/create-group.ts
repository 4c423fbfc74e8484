import { implement } from '@bunting/bus';
import { CreateGroup } from '@bunting/contracts';
import { keepGroup } from './keep-group.ts';
import type { GatewayContext } from '../context.ts';

export const createGroupEndpoint = ({ work }: GatewayContext) =>
  implement(CreateGroup, (asked) => work(asked, (tx) => keepGroup(tx, { body: asked.body, by: asked.caller.name })));
