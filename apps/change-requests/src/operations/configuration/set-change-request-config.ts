import { call, implement, onBehalfOf } from '@bunting/bus';
import { ListEnvironmentSettingsOfProject, may, noAccess, notFound, SetChangeRequestConfig } from '@bunting/contracts';
import { configurationUpdated, requiredApprovalsOf, requireMinimum } from '../../domain/configuration.ts';
import { actorOf } from '../actor.ts';
import type { ChangeRequestsContext } from '../context.ts';

/** Enables or disables the protection of an environment. Existing requests keep their number of required approvals. */
export const setChangeRequestConfigEndpoint = ({ bus, work, syncProtection }: ChangeRequestsContext) =>
  implement(SetChangeRequestConfig, async (request) => {
    const { params, body, caller } = request;
    const place = { project: params.projectId, environment: params.environment };
    const wanted = ['PROJECT_CHANGE_REQUEST_WRITE', 'UPDATE_PROJECT'] as const;
    if (!may(caller, wanted, { project: place.project })) throw noAccess(wanted);
    const ask = { params: { projectId: place.project } };
    const { environments } = await call(bus, ListEnvironmentSettingsOfProject, ask, onBehalfOf(request));
    const environment = environments.find(({ name }) => name === place.environment);
    if (environment === undefined) {
      throw notFound(`Could not find environment ${place.environment} for project ${place.project}`);
    }
    const least = environment.requiredApprovals ?? undefined;
    const reply = await work(request, async ({ requests, outbox }) => {
      const after = requiredApprovalsOf(body, least);
      const before = await requests.protect(place, after);
      const isAdministrator = may(caller, ['ADMIN'], { project: place.project });
      if (least !== undefined && !isAdministrator) requireMinimum(before, after, least, place.environment);
      for (const event of configurationUpdated(place, before, after, actorOf(request))) outbox.event(event);
      return null;
    });
    // After the reply, direct edits are refused. If this call fails, the runner repeats it until it succeeds.
    await syncProtection(onBehalfOf(request));
    return reply;
  });
