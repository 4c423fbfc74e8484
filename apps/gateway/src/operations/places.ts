import { type Bus, call, type CallContext, traceparentFrom } from '@bunting/bus';
import { GetProjectEnvironments, ListEnvironments, ListProjects, systemCaller } from '@bunting/contracts';
import type { Places } from '../domain/new-token.ts';
import type { ProjectsHeardOf } from '../persistence/standing-projects.ts';

interface Asking {
  readonly requestId: string;
  readonly traceparent: string;
  readonly deadline: Date;
}

/** What the features service knows of the places in which rights are given. */
export interface PlacesKnown {
  /** Every project and every environment, and which of the projects the gateway had heard of before. */
  all(asking: Asking): Promise<Places & { readonly heardOf: readonly string[] }>;
  environments(asking: Asking): Promise<readonly string[]>;
  /**
   * Makes sure that there is a project, and says whether the gateway had heard of it before: then a work can notice that it is gone.
   * @throws Refusal `NotFoundError` when there is no such project.
   */
  requireProject(asking: Asking, projectId: string): Promise<readonly string[]>;
}

const nameOf = ({ name }: { readonly name: string }): string => name;

// Whoever asked has been let in already; what there is, the gateway asks for itself.
const contextOf = ({ requestId, traceparent, deadline }: Asking): CallContext => ({
  caller: systemCaller,
  requestId,
  traceparent: traceparentFrom(traceparent),
  timeoutMs: deadline.getTime() - Date.now(),
});

export const placesKnown = (bus: Bus, heardOf: ProjectsHeardOf): PlacesKnown => {
  const environments = async (asking: Asking): Promise<string[]> =>
    (await call(bus, ListEnvironments, {}, contextOf(asking))).environments.map(nameOf);
  return {
    environments,
    all: async (asking) => {
      const heard = await heardOf();
      const [found, { projects }] = await Promise.all([
        environments(asking),
        call(bus, ListProjects, {}, contextOf(asking)),
      ]);
      return { environments: found, projects: projects.map(({ id }) => id), heardOf: heard };
    },
    requireProject: async (asking, projectId) => {
      const heard = await heardOf([projectId]);
      await call(bus, GetProjectEnvironments, { params: { projectId } }, contextOf(asking));
      return heard;
    },
  };
};
