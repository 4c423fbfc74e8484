import { randomUUID } from 'node:crypto';
import { type Bus, type Endpoint, implement, onBehalfOf, type OperationRequest, reads, writes } from '@bunting/bus';
import {
  type AnyOperation,
  CloneEnvironment,
  CopyEnvironmentPermissions,
  CountEnvironmentTokens,
  CreateEnvironment,
  DeleteEnvironment,
  EndEnvironmentAccess,
  GetEnvironment,
  ListEnvironmentNames,
  ListEnvironments,
  SetEnvironmentOrder,
  SwitchEnvironmentOff,
  SwitchEnvironmentOn,
  UpdateEnvironment,
  ValidateEnvironmentName,
} from '@bunting/contracts';
import { call, callIfSupported } from '../calls.ts';
import { type FeaturesContext, hiddenProjectsOf } from '../context.ts';
import type { DeferredEdit } from '../deferred-edits/deferred-edit.ts';
import { batchSize } from '../features/feature-store.ts';
import { requireUrlFriendlyName } from '../names.ts';
import { projectEnvironmentAdded } from '../projects/project-environment.ts';
import {
  environmentNameTaken,
  environmentNotFound,
  settingsAreBeingCopied,
  settingsAreBeingRemoved,
} from '../refusals.ts';
import type { Transaction } from '../unit-of-work/unit-of-work.ts';
import {
  clonedEnvironment,
  copySettingsToEnvironment,
  deleteEnvironment,
  type EnvironmentDecision,
  environmentView,
  newEnvironment,
  projectsOfClone,
  requireProjectsFound,
  switchEnvironment,
  updateEnvironment,
} from './environment.ts';

export function environmentEndpoints({ environments, bus, transaction }: FeaturesContext): readonly Endpoint[] {
  return [
    implement(ListEnvironmentNames, async () => ({ names: await environments.names() })),

    reads(ListEnvironments, async (request) => {
      const tokens = await loadTokenCounts(bus, request);
      return await environments.all(hiddenProjectsOf(request.caller), tokens);
    }),

    reads(GetEnvironment, async (request) => {
      const tokens = await loadTokenCounts(bus, request);
      return await environments.one(request.params.name, hiddenProjectsOf(request.caller), tokens);
    }),

    implement(ValidateEnvironmentName, async ({ body }) => {
      requireUrlFriendlyName(body.name);
      if (await environments.isTaken(body.name)) {
        throw environmentNameTaken(body.name);
      }
      return null;
    }),

    writes(CreateEnvironment, transaction, async ({ environments }, request) => {
      const { environment, events } = newEnvironment(request.body, await environments.lockAndCount());
      await environments.add(environment, events);
      await endAccessOfEarlierEnvironment(bus, environment.name, request);
      return { ...environmentView(environment), projectCount: 0, enabledToggleCount: 0 };
    }),

    /**
     * Clones an environment, with the settings of the first features in one transaction and those of the others in several. The gateway
     * copies the permissions after the commit; if it does not reply, the caller can repeat the request with the same `Idempotency-Key`.
     */
    implement(CloneEnvironment, (request) =>
      transaction.commitThenReply(
        request,
        async (tx) => {
          const { environments, features, deferredEdits, guard } = tx;
          const { params, body } = request;
          const existing = await environments.lockAndCount();
          const [source] = await environments.findForUpdate([params.name]);
          if (source === undefined) throw environmentNotFound(params.name);
          const { environment: clone, events } = clonedEnvironment(source, body, existing);
          await environments.add(clone, events);
          await endAccessOfEarlierEnvironment(bus, clone.name, request);

          const requested = projectsOfClone(body);
          const from = source.name;
          const to = clone.name;
          const projects = await environments.connectProjects(from, to, requested, (connected) =>
            connected.map((project) => projectEnvironmentAdded(project, to)),
          );
          requireProjectsFound(requested, projects);
          if (await features.hasSettingsToRemove(projects, to)) throw settingsAreBeingRemoved(to);
          if (await deferredEdits.isPending('copy-settings', from)) throw settingsAreBeingCopied(from);
          const edit = { kind: 'copy-settings', from, to, projects } as const;
          const last = await continueCopy(tx, edit);
          if (last !== undefined) {
            for (const project of projects) await guard.checkSettings(project, to);
            await deferredEdits.add(edit, last);
          }
          // The states of the other features list one environment more.
          await features.emitStates(await features.namesWithoutSettings(projects, from));
          const enabledToggleCount = await features.countEnabled(projects, from);
          return { ...environmentView(clone), projectCount: projects.length, enabledToggleCount };
        },
        async (clone) => {
          const { params, body } = request;
          if (body.clonePermissions !== false) {
            const copy = { from: params.name, to: clone.name };
            await call(bus, CopyEnvironmentPermissions, { body: copy }, onBehalfOf(request));
          }
          return clone;
        },
      ),
    ),

    writes(UpdateEnvironment, transaction, async (tx, { params, body }) => {
      const [before] = await tx.environments.findForUpdate([params.name]);
      if (before === undefined) throw environmentNotFound(params.name);
      const decision = updateEnvironment(before, body);
      await saveEnvironments(tx, [decision]);
      return environmentView(decision.environment);
    }),

    writes(SetEnvironmentOrder, transaction, async (tx, { body }) => {
      const environments = await tx.environments.findForUpdate(Object.keys(body));
      const decisions = Object.entries(body).map(([name, sortOrder]) => {
        const environment = environments.find((candidate) => candidate.name === name);
        if (environment === undefined) throw environmentNotFound(name);
        return updateEnvironment(environment, { sortOrder });
      });
      await saveEnvironments(tx, decisions);
      return null;
    }),

    writes(SwitchEnvironmentOff, transaction, (tx, { params }) => setEnvironmentEnabled(tx, params.name, false)),

    writes(SwitchEnvironmentOn, transaction, (tx, { params }) => setEnvironmentEnabled(tx, params.name, true)),

    writes(DeleteEnvironment, transaction, async (tx, { params }) => {
      const { environments, projects, features } = tx;
      const [environment] = await environments.findForUpdate([params.name]);
      if (environment === undefined) throw environmentNotFound(params.name);
      const { name } = environment;
      if (await tx.deferredEdits.isCopied(name)) throw settingsAreBeingCopied(name);
      const projectIds = await environments.lockProjects(name);
      for (const id of projectIds) await projects.disconnect(id, name, []);
      await features.removeSettings(projectIds, name, (enabled) => deleteEnvironment(environment, projectIds, enabled));
      await environments.remove(name, []);
      return null;
    }),
  ];
}

/** The numbers of tokens by environment, from the gateway; empty if the gateway is older and does not count them. */
export async function loadTokenCounts(bus: Bus, request: Parameters<typeof onBehalfOf>[0], project?: string) {
  const body = project === undefined ? {} : { project };
  return (await callIfSupported(bus, CountEnvironmentTokens, { body }, onBehalfOf(request)))?.environments ?? [];
}

/**
 * Copies the settings of a batch of features for the clone of an environment. What somebody has set in the clone meanwhile stays.
 * @param progress that of a clone that goes on: it leaves out features up to a name, and those that were created later
 * @returns the last name of the batch; undefined if there is no other batch
 */
export async function continueCopy(
  { environments, features }: Pick<Transaction, 'environments' | 'features'>,
  { from, to, projects: cloned }: Omit<Extract<DeferredEdit, { kind: 'copy-settings' }>, 'kind'>,
  { doneUpTo, begunAt }: { readonly doneUpTo: string; readonly begunAt?: string } = { doneUpTo: '' },
): Promise<string | undefined> {
  // A project may have been deleted meanwhile.
  const projects = await environments.lockConnections(cloned, to);
  const names = await features.namesWithSettings(projects, from, doneUpTo);
  const locked = (await features.findAllOfInstanceForUpdate(names)).filter(
    (feature) =>
      projects.includes(feature.project) &&
      feature.environments[to] === undefined &&
      (begunAt === undefined || feature.createdAt <= begunAt),
  );
  const decisions = locked.map((feature) => copySettingsToEnvironment(feature, { from, to }, randomUUID));
  await features.save(
    decisions.map(({ feature }) => feature),
    decisions.flatMap((decision) => decision.events),
  );
  await features.emitStates(
    decisions.filter((decision) => decision.events.length === 0).map(({ feature }) => feature.name),
  );
  return names.length === batchSize ? names.at(-1) : undefined;
}

/** Saves updated environments, and emits the states of the features in them. */
async function saveEnvironments(
  { environments, features }: Pick<Transaction, 'environments' | 'features'>,
  decisions: readonly EnvironmentDecision[],
): Promise<void> {
  const changed = decisions.filter((decision) => decision.events.length > 0).map(({ environment }) => environment);
  if (changed.length === 0) return;
  await environments.save(
    changed,
    decisions.flatMap((decision) => decision.events),
  );
  await features.emitStates(await environments.featureNames(changed.map(({ name }) => name)));
}

/**
 * Calls the gateway to end the tokens and permissions that name a new environment, in its transaction, which holds the name: those of an
 * earlier environment must never hold in the new one. If the commit fails, they were for no environment anyway.
 * @throws Refusal `ServiceUnavailable` if the gateway does not reply, so that nothing is committed.
 */
async function endAccessOfEarlierEnvironment(
  bus: Bus,
  environment: string,
  request: OperationRequest<AnyOperation>,
): Promise<void> {
  await call(bus, EndEnvironmentAccess, { body: { environment } }, onBehalfOf(request));
}

/** Switches an environment on or off. */
async function setEnvironmentEnabled({ environments }: Transaction, name: string, enabled: boolean): Promise<null> {
  const [environment] = await environments.findForUpdate([name]);
  if (environment === undefined) throw environmentNotFound(name);
  const after = switchEnvironment(environment, enabled);
  if (after !== environment) await environments.save([after], []);
  return null;
}
