import type { Bus, CallContext } from '@bunting/bus';
import { GetPermissionsOfUsers, ListEnvironmentSettingsOfProject } from '@bunting/contracts';
import { call } from '../../calls.ts';
import type { ChangeRequest } from '../../requests/change-request.ts';
import type { Protection } from '../../domain/review/review-requirement.ts';
import type { ChangeRequestReader } from '../../persistence/change-request-reader.ts';
import type { ReviewFacts } from '../../domain/review/judge-request.ts';

/** The protected environments of a project that are connected to it. */
export const loadConnectedProtections = async (
  { bus, reader }: { readonly bus: Bus; readonly reader: ChangeRequestReader },
  project: string,
  context: CallContext,
): Promise<Protection[]> => {
  const [{ environments }, protections] = await Promise.all([
    call(bus, ListEnvironmentSettingsOfProject, { params: { projectId: project } }, context),
    reader.protectedEnvironments(project),
  ]);
  return protections.filter(({ environment }) => environments.some(({ name }) => name === environment));
};

/** The maximum number of users in one call. */
const maxUsersPerCall = 1_000;

/** Loads what decides about the approvals of requests of a project, before a transaction: a lock must not wait for another service. */
export const loadReviewFacts = async (
  bus: Bus,
  project: string,
  requests: readonly Pick<ChangeRequest, 'approvals'>[],
  context: CallContext,
): Promise<ReviewFacts> => {
  const ids = [...new Set(requests.flatMap(({ approvals }) => approvals.map(({ createdBy }) => createdBy.id)))].filter(
    (id) => id > 0,
  );
  const batches = Array.from({ length: Math.ceil(ids.length / maxUsersPerCall) }, (_, nth) =>
    ids.slice(nth * maxUsersPerCall, (nth + 1) * maxUsersPerCall),
  );
  const [{ environments }, ...replies] = await Promise.all([
    call(bus, ListEnvironmentSettingsOfProject, { params: { projectId: project } }, context),
    ...batches.map((batch) => call(bus, GetPermissionsOfUsers, { body: { ids: batch } }, context)),
  ]);
  const found = new Map(replies.flatMap(({ users }) => users.map(({ user, caller }) => [user.id, caller] as const)));
  return {
    connected: new Set(environments.map(({ name }) => name)),
    approvers: new Map(ids.map((id) => [id, found.get(id) ?? null])),
  };
};
