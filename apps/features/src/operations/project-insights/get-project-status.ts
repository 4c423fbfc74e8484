import { implement, JsonText, onBehalfOf } from '@bunting/bus';
import { CountEnvironmentTokens, GetProjectStatus } from '@bunting/contracts';
import { callIfSupported } from '../../calls.ts';
import { loadActivity, activityWithoutEvents } from './project-activity.ts';
import type { FeaturesContext } from '../context.ts';
import { loadProjectMembers } from './external-project-data.ts';

export const getProjectStatusEndpoint = ({ projectOverviews, bus }: FeaturesContext) =>
  implement(GetProjectStatus, async (request) => {
    const { projectId } = request.params;
    const [members, [active = activityWithoutEvents], tokens] = await Promise.all([
      loadProjectMembers(bus, request),
      loadActivity(bus, request, { project: projectId, days: 365 }),
      callIfSupported(bus, CountEnvironmentTokens, { body: { project: projectId } }, onBehalfOf(request)),
    ]);
    const apiTokens = (tokens?.environments ?? []).reduce((sum, environment) => sum + environment.tokens, 0);
    return new JsonText(await projectOverviews.status(projectId, members, { days: active.days, apiTokens }));
  });
