import { type Bus, call, onBehalfOf } from '@bunting/bus';
import { ListEnvironmentSettingsOfProject } from '@bunting/contracts';

type RequestInProject = Parameters<typeof onBehalfOf>[0] & { readonly params: { readonly projectId: string } };

/**
 * Refuses an operation in a project that is archived or was deleted, which the features service knows. A write calls it before its
 * transaction, because a lock must not wait for another service.
 * @throws Refusal `NotFoundError`
 */
export const requireProject = async (bus: Bus, request: RequestInProject): Promise<void> => {
  const { projectId } = request.params;
  await call(bus, ListEnvironmentSettingsOfProject, { params: { projectId } }, onBehalfOf(request));
};
