import { randomBytes } from 'node:crypto';
import { type Bus, type Endpoint, implement, onBehalfOf, type OperationRequest, reads, writes } from '@bunting/bus';
import {
  type Access,
  AddProjectEnvironment,
  type AnyOperation,
  ArchiveProject,
  authorise,
  type Caller,
  CountFeaturesOfProjects,
  CountProjectMembers,
  CreateProject,
  DeleteProject,
  GetDeprecatedProjectOverview,
  HideProject,
  ListEnvironmentSettingsOfProject,
  ListEnvironmentsOfProjects,
  ListEnvironmentsOfProject,
  ListProjects,
  RemoveProjectEnvironment,
  ReviveProject,
  SetDefaultStrategy,
  UpdateProject,
  UpdateProjectSettings,
  ValidateProjectId,
} from '@bunting/contracts';
import { deleteArchivedFeatures } from '../archive/endpoints.ts';
import { call, callForJsonIfSupported } from '../calls.ts';
import { type FeaturesContext, hiddenProjectsOf } from '../context.ts';
import { loadTokenCounts } from '../environments/endpoints.ts';
import { batchSize } from '../features/feature-store.ts';
import { loadActivityJsonIfAvailable, loadExternalProjectData } from '../insights/endpoints.ts';
import { requireUrlFriendlyName } from '../names.ts';
import {
  noProjectFound,
  projectIsBeingDeleted,
  requireBelowLimit,
  settingsAreBeingCopied,
  settingsAreBeingRemoved,
} from '../refusals.ts';
import { segmentDeleted } from '../segments/segment.ts';
import type { Transaction } from '../unit-of-work/unit-of-work.ts';
import { possibleReferencesIn } from './project-context-store.ts';
import {
  addProjectEnvironment,
  defaultStrategyUpdated,
  normalizeDefaultStrategy,
  removeProjectEnvironment,
} from './project-environment.ts';
import type { LockedProject } from './project-store.ts';
import {
  archiveProject,
  deleteProject,
  mayReuseIds,
  newProject,
  type ProjectDecision,
  projectIdTaken,
  proposedProjectId,
  reviveProject,
  type StoredProject,
  updateProject,
  updateProjectSettings,
} from './project.ts';

export function projectEndpoints({
  projects,
  bus,
  projectOverviews,
  transaction,
  environments,
  maxProjects,
}: FeaturesContext): readonly Endpoint[] {
  return [
    reads(ListProjects, async (request) => {
      const [members, activity] = await Promise.all([
        callForJsonIfSupported(bus, CountProjectMembers, { body: {} }, onBehalfOf(request)),
        loadActivityJsonIfAvailable(bus, request, {}),
      ]);
      const { caller, query } = request;
      const callerScope = { userId: caller.id, hidden: hiddenProjectsOf(caller) };
      return await projects.all(query, callerScope, { members, activity });
    }),

    reads(CountFeaturesOfProjects, ({ caller }) => projects.featureCounts(hiddenProjectsOf(caller))),

    reads(GetDeprecatedProjectOverview, async (request) => {
      const external = await loadExternalProjectData(bus, request);
      return await projectOverviews.withFeatures(request.params.projectId, request.caller.id, external);
    }),

    implement(ValidateProjectId, async ({ body, caller }) => {
      requireUrlFriendlyName(body.id, '/body/id');
      if (await projects.isIdTaken(body.id, mayReuseIds(caller))) throw projectIdTaken();
      return null;
    }),

    writes(CreateProject, transaction, async ({ projects }, request) => {
      const { body, caller, now } = request;
      // Locks before it reads, so that projects that are created concurrently with one name get different ids.
      const count = await projects.lockAndCount();
      const proposed = proposedProjectId(body);
      const existing = await projects.newProjectContext(proposed.id);
      const decision = newProject(body, proposed, existing, randomBytes(4).toString('hex'));
      const { project } = decision;
      requireBelowLimit('project', count, maxProjects);
      const version = await projects.add(project, caller, now.toISOString(), decision.events);
      if (project.mode === 'private') await hideProjectInGateway(bus, { id: project.id, version }, request);
      const { description, featureLimit, ...reply } = project;
      return {
        ...reply,
        ...(description !== null && { description }),
        ...(featureLimit !== null && { featureLimit }),
      };
    }),

    writes(UpdateProjectSettings, transaction, async (tx, request) => {
      const { body } = request;
      const { project } = await authoriseAndLockProject(tx, UpdateProjectSettings, request);
      await saveProject(tx, { before: project, decision: updateProjectSettings(project, body) }, request, bus);
      return null;
    }),

    writes(UpdateProject, transaction, async (tx, request) => {
      const { body } = request;
      const { project } = await authoriseAndLockProject(tx, UpdateProject, request);
      await saveProject(tx, { before: project, decision: updateProject(project, body) }, request, bus);
      return null;
    }),

    writes(ArchiveProject, transaction, async (tx, { params, caller, now }) => {
      const locked = await authoriseAndLockProject(tx, ArchiveProject, { params, caller }, { orArchived: true });
      if (locked.isArchived) return null;
      const event = archiveProject(locked);
      await tx.projects.setArchived(locked.project.id, now.toISOString(), [event]);
      return null;
    }),

    writes(ReviveProject, transaction, async (tx, { params, caller }) => {
      const { project, isArchived } = await authoriseAndLockProject(
        tx,
        ReviveProject,
        { params, caller },
        { orArchived: true },
      );
      if (!isArchived) return null;
      if (await tx.deferredEdits.isPending('delete-project', project.id)) throw projectIsBeingDeleted(project.id);
      await tx.projects.setArchived(project.id, null, [reviveProject(project)]);
      return null;
    }),

    writes(DeleteProject, transaction, async (tx, { params, caller, now }) => {
      const locked = await authoriseAndLockProject(tx, DeleteProject, { params, caller }, { orArchived: true });
      const edit = { kind: 'delete-project', project: params.projectId } as const;
      if (await continueProjectDeletion(tx, locked)) {
        await tx.deferredEdits.end(edit);
        return null;
      }
      // Nobody adds features to an archived project.
      if (!locked.isArchived) await tx.projects.setArchived(edit.project, now.toISOString(), []);
      await tx.deferredEdits.add(edit);
      return null;
    }),

    implement(ListEnvironmentSettingsOfProject, async ({ params }) => ({
      environments: await projects.environmentsOf(params.projectId),
    })),

    implement(ListEnvironmentsOfProjects, async ({ body }) => ({
      environments: await projects.environmentsOfSome(body.projects),
    })),

    reads(ListEnvironmentsOfProject, async (request) => {
      const { projectId } = request.params;
      return await environments.ofProject(projectId, await loadTokenCounts(bus, request, projectId));
    }),

    writes(AddProjectEnvironment, transaction, async (tx, { params, body, caller }) => {
      const { environment } = body;
      const locked = await authoriseAndLockProject(tx, AddProjectEnvironment, { params, caller });
      const exists = await tx.environments.lockShared(environment);
      const event = addProjectEnvironment(locked, environment, exists);
      if (await tx.features.hasSettingsToRemove([params.projectId], environment))
        throw settingsAreBeingRemoved(environment);
      await tx.projects.connect(params.projectId, environment, [event]);
      await tx.features.emitStates(await tx.projects.featureNames(params.projectId));
      return null;
    }),

    writes(SetDefaultStrategy, transaction, async (tx, { params, body, caller }) => {
      const { projectId, environment } = params;
      const { project } = await authoriseAndLockProject(tx, SetDefaultStrategy, { params, caller });
      const projectContext = await tx.projectContext.ofProject(projectId, possibleReferencesIn(body));
      if (projectContext === undefined)
        throw new Error(`The project ${projectId} is locked, and has no projectContext.`);
      const strategy = normalizeDefaultStrategy(project.id, environment, body, projectContext);
      const before = await tx.projects.defaultStrategyForUpdate(projectId, environment);
      const events = defaultStrategyUpdated({ project: projectId, environment }, before, strategy);
      if (events.length === 0) return strategy;
      await tx.projects.setDefaultStrategy(projectId, environment, strategy, events);
      return strategy;
    }),

    writes(RemoveProjectEnvironment, transaction, async (tx, { params, caller }) => {
      const { projectId, environment } = params;
      const event = removeProjectEnvironment(
        await authoriseAndLockProject(tx, RemoveProjectEnvironment, { params, caller }),
        environment,
      );
      if (await tx.deferredEdits.isCopied(environment)) throw settingsAreBeingCopied(environment);
      await tx.projects.disconnect(projectId, environment, [event]);
      await tx.features.removeSettings([projectId], environment, () => []);
      return null;
    }),
  ];
}

/**
 * Deletes a batch of the archived features of a locked project, and the project itself once it has no others.
 * @returns whether the project has been deleted
 */
export async function continueProjectDeletion(tx: Transaction, locked: LockedProject): Promise<boolean> {
  const event = deleteProject(locked);
  const { project } = locked;
  const names = await tx.projects.featureNames(project.id, batchSize);
  await deleteArchivedFeatures(tx, await tx.features.findAllForUpdate(names));
  if (names.length === batchSize) return false;
  await tx.projects.remove(project, (segments) => [...segments.map(segmentDeleted), event]);
  return true;
}

/**
 * Calls the gateway to hide a project that becomes private, as the last step of the transaction: after the commit only its members see it.
 * A retried transaction calls twice, and the commit may fail: the gateway unhides a project whose state does not confirm the change.
 * @throws Refusal `ServiceUnavailable` if the gateway does not reply, so that nothing is committed.
 */
async function hideProjectInGateway(
  bus: Bus,
  project: { readonly id: string; readonly version: number },
  request: OperationRequest<AnyOperation>,
): Promise<void> {
  await call(bus, HideProject, { body: project }, onBehalfOf(request));
}

/** Authorises the caller to do an operation in a project, and locks the project. Refuses an archived project unless `orArchived` is set. */
export async function authoriseAndLockProject(
  { projects }: Pick<Transaction, 'projects'>,
  { permission }: { readonly permission: Access },
  { params, caller }: { readonly params: { readonly projectId: string }; readonly caller: Caller },
  { orArchived = false } = {},
): Promise<LockedProject> {
  const { projectId: project } = params;
  authorise(caller, permission, { project });
  const locked = await projects.findForUpdate(project);
  if (locked === undefined || (locked.isArchived && !orArchived)) throw noProjectFound(project);
  return locked;
}

/** Saves a decided project. One that becomes private is hidden before the commit. */
async function saveProject(
  { projects }: Pick<Transaction, 'projects'>,
  { before, decision }: { readonly before: StoredProject; readonly decision: ProjectDecision },
  request: OperationRequest<typeof UpdateProject | typeof UpdateProjectSettings>,
  bus: Bus,
): Promise<void> {
  const { project } = decision;
  if (decision.events.length === 0) return;
  const version = await projects.save(project, request.now.toISOString(), decision.events);
  if (project.mode === 'private' && before.mode !== 'private')
    await hideProjectInGateway(bus, { id: project.id, version }, request);
}
