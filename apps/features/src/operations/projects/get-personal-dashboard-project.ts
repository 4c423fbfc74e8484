import { callIfSupported, implement, JsonText, onBehalfOf } from '@bunting/bus';
import { FindEvents, GetPersonalDashboardProject, GetUserRoles, imageUrlOf } from '@bunting/contracts';
import type { FeaturesContext } from '../context.ts';
import { heldProject } from './known-elsewhere.ts';

export const getPersonalDashboardProjectEndpoint = ({ projectOverviews: projects, bus }: FeaturesContext) =>
  implement(GetPersonalDashboardProject, async (request) => {
    const { projectId } = request.params;
    const newest = { query: { project: `IS:${projectId}`, limit: '10' } };
    const [held, { events } = { events: [] }, { roles } = { roles: [] }] = await Promise.all([
      heldProject(bus, request),
      callIfSupported(bus, FindEvents, newest, onBehalfOf(request)),
      callIfSupported(bus, GetUserRoles, { query: { projectId } }, onBehalfOf(request)),
    ]);
    const about = {
      latestEvents: events.map(({ id, summary = null, createdBy, createdAt }) => {
        return { id, summary, createdBy, createdByImageUrl: imageUrlOf(createdBy), createdAt };
      }),
      roles: roles.flatMap(({ id, name, type }) => {
        return type === 'project' || type === 'custom' ? [{ id, name, type: type as 'project' | 'custom' }] : [];
      }),
    };
    return new JsonText(await projects.forCaller(projectId, held, about));
  });
