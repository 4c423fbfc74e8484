import { implement } from '@bunting/bus';
import { GetGroup, ListGroups, notFound } from '@bunting/contracts';
import type { UnitOfWork } from '../../persistence/unit-of-work.ts';

export const noSuchGroup = 'Could not find group';

export const listGroupsEndpoint = (work: UnitOfWork) =>
  implement(ListGroups, (asked) => work(asked, async ({ groups }) => ({ groups: await groups.list() })));

export const getGroupEndpoint = (work: UnitOfWork) =>
  implement(GetGroup, (asked) =>
    work(asked, async ({ groups }) => {
      const [group] = await groups.list([asked.params.id]);
      if (group === undefined) throw notFound(noSuchGroup);
      return group;
    }),
  );
