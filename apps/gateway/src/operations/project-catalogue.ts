import { type Bus, call, type CallContext, onBehalfOf } from '@bunting/bus';
import {
  type Caller,
  GetProjectEnvironments,
  ListEnvironments,
  ListProjects,
  notFound,
  systemCaller,
  unavailable,
} from '@bunting/contracts';
import type { TokenTargets } from '../domain/api-token.ts';
import type { FindKnownProjects } from '../persistence/projects/existing-projects.ts';

interface Asking {
  readonly requestId: string;
  readonly traceparent: string;
  readonly deadline: Date;
}

/** What the features service knows of the places in which rights are given. */
export interface ProjectCatalogue {
  /** Every project and every environment. */
  all(asking: Asking): Promise<TokenTargets>;
  environments(asking: Asking): Promise<readonly string[]>;
  /** The ids of the projects that the caller may see. */
  visibleProjects(asking: Asking & { readonly caller: Caller }): Promise<string[]>;
  /** @throws Refusal `NotFoundError` when there is no such project. */
  requireProject(asking: Asking, projectId: string): Promise<void>;
  /**
   * Waits until the gateway has heard of projects that there are: what is written for a project that it has not heard of would stay
   * when it hears of the deletion before.
   * @throws Refusal `NotFoundError` for one that is gone by now
   */
  awaitKnown(projectIds: readonly string[]): Promise<void>;
}

/** Learns what changed in the projects; says how many milliseconds are missing still. */
export type CatchUp = () => Promise<number>;

const nameOf = ({ name }: { readonly name: string }): string => name;

// Whoever asked has been let in already; what there is, the gateway asks for itself.
const contextOf = (asking: Asking): CallContext => onBehalfOf({ ...asking, caller: systemCaller });

export const projectCatalogue = (bus: Bus, heardOf: FindKnownProjects, catchUp: CatchUp): ProjectCatalogue => {
  const environments = async (asking: Asking): Promise<string[]> =>
    (await call(bus, ListEnvironments, {}, contextOf(asking))).environments.map(nameOf);
  const unheardOf = async (projectIds: readonly string[]): Promise<string | undefined> => {
    const heard = await heardOf(projectIds);
    return projectIds.find((id) => !heard.includes(id));
  };
  return {
    environments,
    visibleProjects: async (asking) =>
      (await call(bus, ListProjects, {}, onBehalfOf(asking))).projects.map(({ id }) => id),
    all: async (asking) => {
      const [found, { projects }] = await Promise.all([
        environments(asking),
        call(bus, ListProjects, {}, contextOf(asking)),
      ]);
      return { environments: found, projects: projects.map(({ id }) => id) };
    },
    requireProject: async (asking, projectId) => {
      await call(bus, GetProjectEnvironments, { params: { projectId } }, contextOf(asking));
    },
    awaitKnown: async (projectIds) => {
      if ((await unheardOf(projectIds)) === undefined) return;
      const behindMs = await catchUp();
      const missing = await unheardOf(projectIds);
      if (missing === undefined) return;
      if (behindMs === 0) throw notFound(`Could not find project with id ${missing}`);
      throw unavailable(`Who may see the project ${missing} is not known yet. Please try again.`);
    },
  };
};
