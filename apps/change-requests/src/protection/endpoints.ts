import { type Bus, type CallContext, type Endpoint, implement, onBehalfOf } from '@bunting/bus';
import {
  authorise,
  environmentNotInProject,
  GetChangeRequestConfig,
  ListEnvironmentSettingsOfProject,
  may,
  SetChangeRequestConfig,
  SetProtection,
} from '@bunting/contracts';
import { call } from '../calls.ts';
import type { ChangeRequestsContext } from '../endpoints.ts';
import { actorOf } from '../requests/change-request.ts';
import { recheckAllApprovals } from '../reviews/endpoints.ts';
import type { DueJobsReader } from '../schedules/schedule-store.ts';
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts';
import { setEnvironmentProtection } from './environment-protection.ts';

export function protectionEndpoints({
  bus,
  reader,
  transaction,
  syncProtection,
  recheckApprovals,
}: ChangeRequestsContext): readonly Endpoint[] {
  return [
    // Enables or disables the protection of an environment. Open requests need the higher of the number at their creation and the current one: those that
    // lack approvals return to review.
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
    }),

    implement(GetChangeRequestConfig, async (request) => {
      const { params } = request;
      const [{ environments }, protectedEnvironments] = await Promise.all([
        call(bus, ListEnvironmentSettingsOfProject, { params }, onBehalfOf(request)),
        reader.protectedEnvironments(params.projectId),
      ]);
      const approvalsByEnvironment = new Map(
        protectedEnvironments.map(({ environment, requiredApprovals }) => [environment, requiredApprovals]),
      );
      return environments.map(({ name, type }) => ({
        environment: name,
        type,
        changeRequestEnabled: approvalsByEnvironment.has(name),
        requiredApprovals: approvalsByEnvironment.get(name) ?? null,
      }));
    }),
  ];
}

/**
 * Sends unsynced changes of environment protection to the features service, which refuses direct edits there. That service ignores
 * older versions, so replicas may send the same change concurrently or twice.
 */
export type SyncProtection = (context: CallContext) => Promise<void>;

export function protectionSync(bus: Bus, dueJobs: DueJobsReader, transaction: UnitOfWork): SyncProtection {
  return async (context) => {
    let hasMore: boolean;
    do {
      hasMore = false;
      for (const change of await dueJobs.unsyncedProtections()) {
        const stored = await call(bus, SetProtection, { body: change }, context);
        const mustBeSentAgain = await transaction(context, ({ protections }) => protections.markSynced(change, stored));
        hasMore ||= mustBeSentAgain;
      }
    } while (hasMore);
  };
}
