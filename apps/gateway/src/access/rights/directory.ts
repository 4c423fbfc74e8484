import { type Bus, type CallContext, onBehalfOf } from '@bunting/bus';
import {
  type Caller,
  ListEnvironmentSettingsOfProject,
  ListEnvironmentNames,
  ListProjects,
  projectNotFound,
  systemCaller,
  unavailable,
} from '@bunting/contracts';
import { call } from '../../calls.ts';
import type { TokenTargets } from '../tokens/token.ts';
import type { FindExistingProjects } from './project-store.ts';

export interface DirectoryRequest {
  readonly requestId: string;
  readonly traceparent: string;
  readonly deadline: Date;
}

// The caller is already authorised: the gateway reads projects and environments as the system.
function systemContextOf(request: DirectoryRequest): CallContext {
  return onBehalfOf({ ...request, caller: systemCaller });
}

/**
 * The projects and environments that exist in the features service.
 * @param catchUp waits for the projection of projects; returns the lag that remains, in milliseconds
 */
export function projectAndEnvironmentDirectory(
  bus: Bus,
  findExisting: FindExistingProjects,
  catchUp: () => Promise<number>,
) {
  const environments = async (request: DirectoryRequest): Promise<string[]> =>
    (await call(bus, ListEnvironmentNames, {}, systemContextOf(request))).names;
  const findUnknown = async (projectIds: readonly string[]): Promise<string | undefined> => {
    const existing = await findExisting(projectIds);
    return projectIds.find((id) => !existing.includes(id));
  };
  return {
    environments,
    /** Applies what the features service has committed of projects and environments; returns the lag that remains, in milliseconds. */
    catchUp,
    visibleProjects: async (request: DirectoryRequest & { readonly caller: Caller }): Promise<string[]> =>
      (await call(bus, ListProjects, {}, onBehalfOf(request))).projects.map(({ id }) => id),
    all: async (request: DirectoryRequest): Promise<TokenTargets> => {
      const [environmentNames, { projects }] = await Promise.all([
        environments(request),
        call(bus, ListProjects, {}, systemContextOf(request)),
      ]);
      return { environments: environmentNames, projects: projects.map(({ id }) => id) };
    },
    /** @throws Refusal `NotFoundError` for a missing project */
    requireProject: async (request: DirectoryRequest, projectId: string): Promise<void> => {
      await call(bus, ListEnvironmentSettingsOfProject, { params: { projectId } }, systemContextOf(request));
    },
    /**
     * Waits until the gateway's projection contains the projects. A row for a project that the projection has not seen would survive a deletion
     * that it applies later.
     * @throws Refusal `NotFoundError` for a project deleted meanwhile, `ServiceUnavailable` when the projection lags
     */
    awaitProjection: async (projectIds: readonly string[]): Promise<void> => {
      if ((await findUnknown(projectIds)) === undefined) return;
      const lagMs = await catchUp();
      const missing = await findUnknown(projectIds);
      if (missing === undefined) return;
      if (lagMs === 0) throw projectNotFound(missing);
      throw unavailable(`The gateway does not know yet who may see the project ${missing}. Please try again.`);
    },
  };
}
export type ProjectAndEnvironmentDirectory = ReturnType<typeof projectAndEnvironmentDirectory>;
