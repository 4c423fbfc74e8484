import { type Endpoint, implement, onBehalfOf, reads, writes } from '@bunting/bus';
import {
  AddProjectEnvironment,
  ArchiveProject,
  CountProjectMembers,
  CreateProject,
  DeleteProject,
  GetDeprecatedProjectOverview,
  ListEnvironmentSettingsOfProject,
  ListEnvironmentsOfProject,
  ListProjects,
  RemoveProjectEnvironment,
  ReviveProject,
  SetDefaultStrategy,
  UpdateProject,
  UpdateProjectSettings,
  ValidateProjectId,
} from '@bunting/contracts';
import { randomBytes } from 'node:crypto';
import { callIfSupported } from '../calls.ts';
import { fixedResourceLimits } from '../fixed-resource-limits.ts';
import { requireUrlFriendlyName } from '../names.ts';
import { defaultStrategyUpdated, normalizeDefaultStrategy } from './default-strategy.ts';
import { addProjectEnvironment, removeProjectEnvironment, withoutEnvironment } from './project-environment.ts';
import { newProject, proposedProjectId } from './new-project.ts';
import {
  archiveProject,
  deleteProject,
  mayReuseIds,
  projectIdTaken,
  reviveProject,
  updateProject,
  updateProjectSettings,
} from './project.ts';
import { requireBelowLimit } from '../refusals.ts';
import { segmentDeleted } from '../segments/segment.ts';
import { deleteArchivedFeatures } from '../archive/delete-archived-features.ts';
import type { FeaturesContext } from '../context.ts';
import { loadTokenCounts } from '../environments/token-counts.ts';
import { possibleReferencesIn } from './possible-references.ts';
import { loadExternalProjectData } from '../insights/external-project-data.ts';
import { loadActivityIfAvailable } from '../insights/project-activity.ts';
import { authoriseAndLockProject } from './authorise-and-lock-project.ts';
import { hideProjectInGateway } from './hide-project-in-gateway.ts';
import { saveProject } from './save-project.ts';
import { hiddenProjectsOf } from '../visibility.ts';

export function projectEndpoints({
  projects,
  bus,
  projectOverviews,
  transaction,
  environments,
}: FeaturesContext): readonly Endpoint[] {
  return [
    reads(ListProjects, async (request) => {
      const [members, lastEvents = []] = await Promise.all([
        callIfSupported(bus, CountProjectMembers, { body: {} }, onBehalfOf(request)),
        loadActivityIfAvailable(bus, request, {}),
      ]);
      const { caller, query } = request;
      const callerScope = { userId: caller.id, hidden: hiddenProjectsOf(caller) };
      return await projects.all(query, callerScope, { members: members?.projects ?? [], lastEvents });
    }),

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
      requireBelowLimit('project', count, fixedResourceLimits.projects);
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
      const { params, body, caller } = request;
      const access = UpdateProjectSettings.permission;
      const { project } = await authoriseAndLockProject(tx, { id: params.projectId, caller, access });
      await saveProject(tx, { before: project, decision: updateProjectSettings(project, body) }, request, bus);
      return null;
    }),

    writes(UpdateProject, transaction, async (tx, request) => {
      const { params, body, caller } = request;
      const { project } = await authoriseAndLockProject(tx, {
        id: params.projectId,
        caller,
        access: UpdateProject.permission,
      });
      await saveProject(tx, { before: project, decision: updateProject(project, body) }, request, bus);
      return null;
    }),

    writes(ArchiveProject, transaction, async (tx, { params, caller, now }) => {
      const target = { id: params.projectId, caller, access: ArchiveProject.permission, orArchived: true };
      const locked = await authoriseAndLockProject(tx, target);
      if (locked.isArchived) return null;
      const event = archiveProject(locked);
      await tx.projects.setArchived(locked.project.id, now.toISOString(), [event]);
      return null;
    }),

    writes(ReviveProject, transaction, async (tx, { params, caller }) => {
      const target = { id: params.projectId, caller, access: ReviveProject.permission, orArchived: true };
      const { project, isArchived } = await authoriseAndLockProject(tx, target);
      if (!isArchived) return null;
      await tx.projects.setArchived(project.id, null, [reviveProject(project)]);
      return null;
    }),

    writes(DeleteProject, transaction, async (tx, { params, caller }) => {
      const target = { id: params.projectId, caller, access: DeleteProject.permission, orArchived: true };
      const locked = await authoriseAndLockProject(tx, target);
      const event = deleteProject(locked);
      const { project } = locked;
      await deleteArchivedFeatures(tx, await tx.features.findAllForUpdate(await tx.projects.featureNames(project.id)));
      await tx.projects.remove(project, (segments) => [...segments.map(segmentDeleted), event]);
      return null;
    }),

    implement(ListEnvironmentSettingsOfProject, async ({ params }) => ({
      environments: await projects.environmentsOf(params.projectId),
    })),

    reads(ListEnvironmentsOfProject, async (request) => {
      const { projectId } = request.params;
      return await environments.ofProject(projectId, await loadTokenCounts(bus, request, projectId));
    }),

    writes(AddProjectEnvironment, transaction, async (tx, { params, body, caller }) => {
      const target = { id: params.projectId, caller, access: AddProjectEnvironment.permission };
      const { environment } = body;
      const locked = await authoriseAndLockProject(tx, target);
      const exists = await tx.environments.lockShared(environment);
      const event = addProjectEnvironment(locked, environment, exists);
      await tx.projects.connect(params.projectId, environment, [event]);
      await tx.features.emitStates(await tx.projects.featureNames(params.projectId));
      return null;
    }),

    writes(SetDefaultStrategy, transaction, async (tx, { params, body, caller }) => {
      const { projectId, environment } = params;
      const { project } = await authoriseAndLockProject(tx, {
        id: projectId,
        caller,
        access: SetDefaultStrategy.permission,
      });
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
      const target = { id: projectId, caller, access: RemoveProjectEnvironment.permission };
      const event = removeProjectEnvironment(await authoriseAndLockProject(tx, target), environment);
      const features = await tx.features.findAllForUpdate(await tx.projects.featureNames(projectId));
      await tx.projects.disconnect(projectId, environment, [event]);
      await tx.features.save(
        features.map((feature) => withoutEnvironment(feature, environment)),
        [],
      );
      return null;
    }),
  ];
}
