import { call, implement, onBehalfOf } from '@bunting/bus';
import {
  ListEnvironmentSettingsOfProject,
  may,
  noAccess,
  permissionsFor,
  SetChangeRequestConfig,
} from '@bunting/contracts';
import { environmentNotInProject } from '../../domain/refusals.ts';
import { configurationUpdated, requiredApprovalsOf, requireMinimum } from '../../domain/required-approvals.ts';
import { actorOf } from '../actor.ts';
import type { ChangeRequestsContext } from '../context.ts';

/** Enables or disables the protection of an environment. Existing requests keep their number of required approvals. */
export const setChangeRequestConfigEndpoint = ({ bus, transaction, syncProtection }: ChangeRequestsContext) =>
  implement(SetChangeRequestConfig, async (request) => {
    const { params, body, caller } = request;
    const environmentRef = { project: params.projectId, environment: params.environment };
    const required = permissionsFor(SetChangeRequestConfig);
    if (!may(caller, required, { project: environmentRef.project })) throw noAccess(required);
    const settingsRequest = { params: { projectId: environmentRef.project } };
    const { environments } = await call(bus, ListEnvironmentSettingsOfProject, settingsRequest, onBehalfOf(request));
    const environment = environments.find(({ name }) => name === environmentRef.environment);
    if (environment === undefined) {
      throw environmentNotInProject(environmentRef.environment, environmentRef.project);
    }
    const minimum = environment.requiredApprovals ?? undefined;
    const reply = await transaction(request, async ({ requests, events }) => {
      const after = requiredApprovalsOf(body, minimum);
      const before = await requests.protect(environmentRef, after);
      const isAdministrator = may(caller, ['ADMIN'], { project: environmentRef.project });
      if (minimum !== undefined && !isAdministrator) requireMinimum(before, after, minimum, environmentRef.environment);
      events.emit(configurationUpdated(environmentRef, before, after, actorOf(request)));
      return null;
    });
    // After the reply, direct edits are refused. If this call fails, the runner repeats it until it succeeds.
    await syncProtection(onBehalfOf(request));
    return reply;
  });
