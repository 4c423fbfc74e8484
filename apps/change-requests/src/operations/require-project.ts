import { type Bus, onBehalfOf } from '@bunting/bus';
import { ListEnvironmentSettingsOfProject } from '@bunting/contracts';
import { call } from '../calls.ts';

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

/** The result of a read in a project, which runs while the project is looked for. The refusal of a missing project takes precedence. */
export const readInProject = async <T>(bus: Bus, request: RequestInProject, read: Promise<T>): Promise<T> => {
  // Awaited later: without a handler, a rejection in the meantime would be reported as unhandled.
  read.catch(() => undefined);
  await requireProject(bus, request);
  return read;
};
