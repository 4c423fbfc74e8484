import { implement } from '@bunting/bus';
import { CreateGroup } from '@bunting/contracts';
import type { UnitOfWork } from '../../persistence/unit-of-work.ts';
import { keepGroup } from './keep-group.ts';

export const createGroupEndpoint = (work: UnitOfWork) =>
  implement(CreateGroup, (asked) => work(asked, (tx) => keepGroup(tx, { body: asked.body, by: asked.caller.name })));
