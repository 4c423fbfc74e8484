import { GetChangeRequestConfig } from '@bunting/contracts';
import { useQueries, type QueryClient } from '@tanstack/react-query';
import { read } from '../../api/queries.ts';

const configOf = (projectId: string) => ({
  ...read(GetChangeRequestConfig, { params: { projectId } }),
  staleTime: 30_000,
});

/** Whether changes of an environment of a project need a change request. @throws ApiError */
export const isProtected = async (client: QueryClient, project: string, environment: string): Promise<boolean> => {
  const config = await client.fetchQuery(configOf(project));
  return config.some((one) => one.environment === environment && one.changeRequestEnabled);
};

/** As `isProtected`, for several projects; nothing while it is being read. */
export const useProtections = (projects: readonly string[]) => {
  const configs = useQueries({ queries: projects.map(configOf) });
  if (configs.some(({ data, error }) => data === undefined && error === null)) return undefined;
  return (project: string, environment: string): boolean =>
    (configs[projects.indexOf(project)]?.data ?? []).some(
      (one) => one.environment === environment && one.changeRequestEnabled,
    );
};
