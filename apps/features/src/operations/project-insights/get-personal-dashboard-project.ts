import { implement, JsonText, onBehalfOf } from '@bunting/bus';
import { SearchEvents, GetPersonalDashboardProject, GetOwnRoles } from '@bunting/contracts';
import { gravatarUrlOf } from '@bunting/contracts/hashing';
import { callIfSupported } from '../../calls.ts';
import type { FeaturesContext } from '../context.ts';
import { loadProjectMembers } from './external-project-data.ts';

export const getPersonalDashboardProjectEndpoint = ({ projectOverviews, bus }: FeaturesContext) =>
  implement(GetPersonalDashboardProject, async (request) => {
    const { projectId } = request.params;
    const newestEvents = { query: { project: `IS:${projectId}`, limit: '10' } };
    const [members, { events } = { events: [] }, { roles } = { roles: [] }] = await Promise.all([
      loadProjectMembers(bus, request),
      callIfSupported(bus, SearchEvents, newestEvents, onBehalfOf(request)),
      callIfSupported(bus, GetOwnRoles, { query: { projectId } }, onBehalfOf(request)),
    ]);
    const eventsAndRoles = {
      latestEvents: events.map(({ id, summary = null, createdBy, createdAt }) => {
        return { id, summary, createdBy, createdByImageUrl: gravatarUrlOf(createdBy), createdAt };
      }),
      roles: roles.flatMap(({ id, name, type }) => {
        return type === 'project' || type === 'custom' ? [{ id, name, type: type as 'project' | 'custom' }] : [];
      }),
    };
    return new JsonText(await projectOverviews.forPersonalDashboard(projectId, members, eventsAndRoles));
  });
