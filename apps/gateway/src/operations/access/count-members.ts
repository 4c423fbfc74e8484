import { implement } from '@bunting/bus';
import { CountMembers } from '@bunting/contracts';
import type { AccessReader } from '../../persistence/access-reader.ts';

export const countMembersEndpoint = (access: AccessReader) =>
  implement(CountMembers, async ({ body: { project } }) => ({ projects: await access.members(project) }));
