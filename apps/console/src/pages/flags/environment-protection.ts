import { GetChangeRequestConfig } from '@bunting/contracts';
import { useQueries, type QueryClient } from '@tanstack/react-query';
import { operationQuery } from '../../api/queries.ts';

const configOf = (projectId: string) => ({
  ...operationQuery(GetChangeRequestConfig, { params: { projectId } }),
  staleTime: 30_000,
});

/** Whether changes of an environment of a project need a change request. @throws ApiError */
export const isProtected = async (client: QueryClient, project: string, environment: string): Promise<boolean> => {
  const config = await client.fetchQuery(configOf(project));
  return config.some((one) => one.environment === environment && one.changeRequestEnabled);
};

/** Where changes of several projects need a change request. */
export interface Protections {
  readonly isProtected: (project: string, environment: string) => boolean;
  /** The environment of a project in which its flags are archived by a change request: one of production where that is protected. */
  readonly protectedIn: (project: string) => string | undefined;
}

/** As `isProtected`, for several projects; nothing while it is being read. */
export const useProtections = (projects: readonly string[]): Protections | undefined => {
  const configs = useQueries({ queries: projects.map(configOf) });
  if (configs.some(({ data, error }) => data === undefined && error === null)) return undefined;
  const protectedOf = (project: string) =>
    (configs[projects.indexOf(project)]?.data ?? []).filter((one) => one.changeRequestEnabled);
  return {
    isProtected: (project, environment) => protectedOf(project).some((one) => one.environment === environment),
    protectedIn: (project) =>
      (protectedOf(project).find(({ type }) => type === 'production') ?? protectedOf(project)[0])?.environment,
  };
};
