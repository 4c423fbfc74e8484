import { implement } from '@bunting/bus';
import { GetProjectActivity } from '@bunting/contracts';
import type { AuditContext } from '../operations/context.ts';

export const getProjectActivityEndpoint = ({ waitUntilFresh, activityOf }: AuditContext) =>
  implement(GetProjectActivity, async (request) => {
    await waitUntilFresh(request);
    const { project, days = 0 } = request.body;
    return { projects: await activityOf(project, days) };
  });
