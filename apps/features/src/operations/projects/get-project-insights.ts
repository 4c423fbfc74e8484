import { implement, JsonText } from '@bunting/bus';
import { GetProjectInsights } from '@bunting/contracts';
import { activityFor, noActivity } from './project-activity.ts';
import type { FeaturesContext } from '../context.ts';
import { heldProject } from './known-elsewhere.ts';

export const getProjectInsightsEndpoint = ({ projectOverviews: projects, bus }: FeaturesContext) =>
  implement(GetProjectInsights, async (request) => {
    const { projectId: project } = request.params;
    const [held, [active = noActivity]] = await Promise.all([
      heldProject(bus, request),
      activityFor(bus, request, { project }),
    ]);
    return new JsonText(await projects.insights(project, held, active));
  });
