import { implement, onBehalfOf } from '@bunting/bus';
import {
  authorise,
  environmentNotInProject,
  ListEnvironmentSettingsOfProject,
  may,
  SetChangeRequestConfig,
} from '@bunting/contracts';
import { call } from '../calls.ts';
import { setEnvironmentProtection } from './environment-protection.ts';
import { recheckAllApprovals } from '../background/recheck-all-approvals.ts';
import { actorOf } from '../operations/actor.ts';
import type { ChangeRequestsContext } from '../operations/context.ts';

/**
 * Enables or disables the protection of an environment. Open requests need the higher of the number at their creation and the current one: those that
 * lack approvals return to review.
 */
export const setChangeRequestConfigEndpoint = ({
  bus,
  reader,
  transaction,
  syncProtection,
  recheckApprovals,
}: ChangeRequestsContext) =>
  implement(SetChangeRequestConfig, async (request) => {
    const { params, body, caller } = request;
    const environmentRef = { project: params.projectId, environment: params.environment };
    authorise(caller, SetChangeRequestConfig.permission, { project: environmentRef.project });
    const settingsRequest = { params: { projectId: environmentRef.project } };
    const { environments } = await call(bus, ListEnvironmentSettingsOfProject, settingsRequest, onBehalfOf(request));
    const environment = environments.find(({ name }) => name === environmentRef.environment);
    if (environment === undefined) {
      throw environmentNotInProject(environmentRef.environment, environmentRef.project);
    }
    const minimum = environment.requiredApprovals ?? undefined;
    const isAdministrator = may(caller, ['ADMIN'], { project: environmentRef.project });
    const reply = await transaction(request, async ({ protections }) => {
      const { requiredApprovals: before, now } = await protections.getForUpdate(environmentRef);
      const change = { before, wanted: body, minimum, isAdministrator };
      const decision = setEnvironmentProtection(environmentRef, change, actorOf(caller, now));
      await protections.save(environmentRef, decision);
      return null;
    });
    // After the reply, direct edits are refused and no request has fewer approvals than it needs. If a call fails, background jobs repeat it until it
    // succeeds.
    await syncProtection(onBehalfOf(request));
    await recheckAllApprovals({ reader, recheckApprovals }, environmentRef.project)(onBehalfOf(request));
    return reply;
  });
