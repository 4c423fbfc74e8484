import { type OperationRequest as Call, type Bus, implement, serve, type Subscription } from '@bunting/bus';
import {
  approvalOutdated,
  affectedEnvironments,
  type AppliedChanges,
  ApplyChanges,
  type Caller,
  type Change,
  CheckChanges,
  type CheckedChange,
  environmentNotInProject,
  ListEnvironmentSettingsOfProject,
  ListEnvironmentsOfProjects,
  invalid,
  isSegmentChange,
  ListProjects,
  notFound,
  type OutboxMessage,
  PreviewChanges,
  outboxOperations,
  type ChangeWithSnapshot,
  type RequestOf,
  SetProtection,
  systemCaller,
} from '@bunting/contracts';
import { randomUUID } from 'node:crypto';

const environmentsOf: Readonly<Record<string, readonly string[]>> = {
  shop: ['production', 'development', 'staging'],
  garage: ['production'],
};
const projectOf: Record<string, string> = { checkout: 'shop', banner: 'shop', engine: 'garage' };
const strategies = [
  { id: 'in-production', feature: 'checkout', environment: 'production' },
  { id: 'in-development', feature: 'checkout', environment: 'development' },
];
const segments = [
  { id: 4, name: 'beta users', project: 'shop' },
  { id: 5, name: 'mechanics', project: 'garage' },
];

function environmentsOfProject(project: string): readonly string[] {
  const environments = environmentsOf[project];
  if (environments === undefined) throw notFound(`Could not find project with id ${project}`);
  return environments;
}

interface CheckRequest {
  readonly project: string;
  readonly environment: string;
  readonly changes: readonly Change[];
  readonly earlier: readonly Change[];
}

function checked(change: Change, { project, environment }: CheckRequest): CheckedChange {
  const { action, payload } = change;
  if (isSegmentChange(change)) {
    const segment = segments.find(({ id }) => id === change.payload.id);
    if (segment === undefined) throw notFound(`Could not find segment with id ${change.payload.id}`);
    if (segment.project !== project) {
      throw invalid(`The \`payload/id\` property names a segment of another project: ${segment.id}.`);
    }
    const { id, name } = segment;
    return { action, feature: null, segment: { id, name }, payload, snapshot: { id, name, constraints: [] } };
  }
  const { feature } = change;
  if (projectOf[feature] !== project) throw notFound(`Could not find feature ${feature} in project ${project}`);
  const named = action === 'updateStrategy' || action === 'deleteStrategy' ? change.payload.id : undefined;
  const strategy = strategies.find(
    (known) => known.id === named && known.feature === feature && known.environment === environment,
  );
  if (named !== undefined && strategy === undefined) throw notFound(`Could not find strategy with id ${named}`);
  const snapshot = strategy === undefined ? null : { id: strategy.id, name: 'default', title: 'as it was' };
  return { action, feature, segment: null, payload, snapshot };
}

type Applied = Call<typeof ApplyChanges>;

/**
 * Implements the operations of the features service that change requests call, for two small projects. What changes mean is
 * tested with the features service itself, in `apps/all-in-one/test`.
 */
export async function fakeFeaturesService(bus: Bus) {
  const checkRequests: CheckRequest[] = [];
  const jobs: (() => Promise<unknown>)[] = [];
  const linked = new Map<string, readonly string[]>();
  const archived = new Set<string>();
  const edited = new Map<string, unknown>();
  const hidden = new Set<string>();
  const minApprovals = new Map<string, number>();
  const applied: (Pick<Caller, 'username'> & {
    id: number;
    by: string;
    shownAs: string | undefined;
    changes: ChangeWithSnapshot[];
  })[] = [];
  const storedResults = new Map<number, { attempt: number; result: AppliedChanges }>();
  const applyJobs: Record<'before' | 'after', (() => unknown)[]> = { before: [], after: [] };
  const checkJobs: (() => unknown)[] = [];
  const environmentJobs: (() => unknown)[] = [];
  const messages: OutboxMessage[] = [];
  const protection: RequestOf<typeof SetProtection>['body'][] = [];
  const protectionStored = new Map<string, { isProtected: boolean; version: number }>();
  const protectionJobs: (() => unknown)[] = [];
  const deletedProjects = new Set<string>();
  let previewCalls = 0;
  let basis = 1;

  const conflictsIn = (changes: readonly ChangeWithSnapshot[]): AppliedChanges['conflicts'] =>
    changes.flatMap(({ id, change }) =>
      isSegmentChange(change) || !archived.has(change.feature)
        ? []
        : [{ code: 'feature-archived', message: 'Feature has been archived', feature: change.feature, changeId: id }],
    );
  const isOverwrite = ({ change, snapshot }: ChangeWithSnapshot): boolean =>
    !isSegmentChange(change) &&
    edited.has(change.feature) &&
    JSON.stringify(edited.get(change.feature)) !== JSON.stringify(snapshot);
  const snapshotOf = ({ change, snapshot }: ChangeWithSnapshot): unknown =>
    !isSegmentChange(change) && edited.has(change.feature) ? edited.get(change.feature) : snapshot;

  const overwrites = [{ property: 'title', snapshot: 'as it was', current: 'newer', proposed: 'ours' }];
  const preview = (changes: readonly ChangeWithSnapshot[]) => {
    const byFeature = Map.groupBy(changes, ({ change }) => (isSegmentChange(change) ? '' : change.feature));
    const bySegment = Map.groupBy(changes, ({ change }) => (isSegmentChange(change) ? change.payload.id : 0));
    const shown = (requested: ChangeWithSnapshot) => ({
      id: requested.id,
      action: requested.change.action,
      ...(isOverwrite(requested) ? { overwrites } : {}),
    });
    return {
      features: [...byFeature].flatMap(([name, its]) => {
        if (name === '') return [];
        const conflict = { conflict: 'Feature has been archived', conflictCode: 'feature-archived' } as const;
        const states = { before: null, after: null, diff: [] };
        return { name, ...(archived.has(name) ? conflict : {}), ...states, changes: its.map(shown) };
      }),
      segments: [...bySegment].flatMap(([id, its]) => {
        if (id === 0) return [];
        const name = segments.find((segment) => segment.id === id)?.name ?? '';
        return { id, name, before: null, after: null, diff: [], changes: its.map(shown) };
      }),
      applicable: conflictsIn(changes).length === 0,
      basis: conflictsIn(changes).length === 0 ? `basis ${basis}` : null,
    };
  };

  const protectedEnvironmentsOf = (project: string): string[] =>
    environmentsNow(project).filter((name) => protectionStored.get(JSON.stringify([project, name]))?.isProtected);
  const applyNow = ({ body, caller }: Applied): AppliedChanges => {
    const conflicts = conflictsIn(body.changes);
    if (conflicts.length > 0) return { outcome: 'conflict', conflicts, inverse: [] };
    const changes = body.changes.map(({ change }) => change);
    const isAuthorised = (name: string): boolean => body.authorisedEnvironments?.includes(name) ?? false;
    const unauthorised = affectedEnvironments(changes, body.environment, protectedEnvironmentsOf(body.project)).find(
      (name) => !isAuthorised(name),
    );
    if (unauthorised !== undefined) {
      const message = `It was not approved for ${unauthorised}`;
      return { outcome: 'conflict', conflicts: [{ code: 'approvals-missing', message }], inverse: [] };
    }
    if (body.approvedBases?.some((approved) => approved !== `basis ${basis}`)) {
      return { outcome: 'conflict', conflicts: [approvalOutdated], inverse: [] };
    }
    if (body.refuseOverwrites && body.changes.some(isOverwrite)) {
      const message =
        'Strategy in-production of feature flag checkout was changed; applying would overwrite that change';
      return { outcome: 'overwrites', conflicts: [{ code: 'overwrite', message }], inverse: [] };
    }
    const { name: by, displayName: shownAs, username } = caller;
    applied.push({ id: body.changeRequestId, by, shownAs, username, changes: body.changes });
    const inverse = body.changes.map(({ change }) => ({
      change,
      snapshot: { after: body.changeRequestId },
      segmentName: null,
    }));
    return { outcome: 'applied', conflicts: [], inverse };
  };
  const environmentsNow = (project: string) => {
    if (deletedProjects.has(project)) throw notFound(`Could not find project with id ${project}`);
    return linked.get(project) ?? environmentsOfProject(project);
  };

  const served: Subscription = await serve(
    bus,
    [
      implement(CheckChanges, async ({ body }) => {
        checkRequests.push(body);
        await jobs.shift()?.();
        if (!environmentsNow(body.project).includes(body.environment)) {
          throw environmentNotInProject(body.environment, body.project);
        }
        return { changes: body.changes.map((change) => checked(change, body)) };
      }),
      implement(PreviewChanges, async ({ body, caller }) => {
        previewCalls++;
        if (caller.id === systemCaller.id) await checkJobs.shift()?.();
        environmentsNow(body.project);
        return {
          previews: body.requests.map(({ changes }) => ({
            preview: preview(changes),
            snapshots: changes.map((change) => ({ id: change.id, snapshot: snapshotOf(change) })),
          })),
        };
      }),
      implement(ApplyChanges, async (request) => {
        await applyJobs.before.shift()?.();
        const { changeRequestId, attempt } = request.body;
        const stored = storedResults.get(changeRequestId);
        const isStored = stored !== undefined && (stored.result.outcome === 'applied' || stored.attempt >= attempt);
        const result = isStored ? stored.result : applyNow(request);
        storedResults.set(changeRequestId, { attempt: Math.max(attempt, stored?.attempt ?? 0), result });
        await applyJobs.after.shift()?.();
        return result;
      }),
      implement(SetProtection, async ({ body }) => {
        await protectionJobs.shift()?.();
        protection.push(body);
        const { project, environment, isProtected, version } = body;
        const place = JSON.stringify([project, environment]);
        const stored = protectionStored.get(place);
        if (stored !== undefined && stored.version >= version) return stored;
        protectionStored.set(place, { isProtected, version });
        return { isProtected, version };
      }),
      implement(outboxOperations.features, async ({ body }) => ({
        head: messages.length,
        messages: messages.filter(({ position }) => position > body.after).slice(0, body.limit),
      })),
      implement(ListProjects, async () => ({
        version: 1 as const,
        projects: Object.keys(environmentsOf)
          .filter((id) => !hidden.has(id))
          .map((id) => ({ id, name: id })),
      })),
      implement(ListEnvironmentsOfProjects, async ({ body }) => ({
        environments: body.projects
          .filter((project) => !deletedProjects.has(project) && environmentsOf[project] !== undefined)
          .flatMap((project) => environmentsNow(project).map((environment) => ({ project, environment }))),
      })),
      implement(ListEnvironmentSettingsOfProject, async ({ params }) => {
        await environmentJobs.shift()?.();
        return {
          environments: environmentsNow(params.projectId).map((name, sortOrder) => ({
            name,
            type: name,
            sortOrder,
            enabled: true,
            requiredApprovals: minApprovals.get(name) ?? null,
          })),
        };
      }),
    ],
    { checkReplies: true },
  );
  return {
    /** the requests of CheckChanges, oldest first */
    checkRequests,
    /** what has been applied, each request once, with who did it */
    applied,
    /** the requests of SetProtection, oldest first */
    protection,
    /** whether it refuses direct edits of an environment of the shop */
    isProtected: (environment: string): boolean =>
      protectionStored.get(JSON.stringify(['shop', environment]))?.isProtected ?? false,
    /** Runs a job once, while the next SetProtection is handled. */
    whileProtecting: (job: () => unknown): void => void protectionJobs.push(job),
    /** the number of calls of PreviewChanges */
    previewCalls: (): number => previewCalls,
    /** Archives a feature: later changes to it are in conflict. */
    archive: (feature: string): void => void archived.add(feature),
    /** Archives or deletes a project: every operation on it is refused. */
    deleteProject: (project: string): void => void deletedProjects.add(project),
    /** Edits a default strategy or a segment that all changes begin to use. */
    editBasis: (): void => void basis++,
    /** Runs a job once, while the next check of a schedule for conflicts is handled. */
    whileChecking: (job: () => unknown): void => void checkJobs.push(job),
    /** Runs a job once, while the next ListEnvironmentSettingsOfProject is handled. */
    whileReadingEnvironments: (job: () => unknown): void => void environmentJobs.push(job),
    /** Edits a feature: a change with another snapshot than this one then overwrites a newer edit. */
    edit: (feature: string, snapshot: unknown): void => void edited.set(feature, snapshot),
    /** Emits an event, of a feature unless the name is null. */
    emit: (type: string, featureName: string | null, data: object | null = null): void => {
      messages.push({
        position: messages.length + 1,
        uid: randomUUID(),
        type,
        recordedAt: new Date().toISOString(),
        traceparent: null,
        payload: { type, featureName, data, preData: null, project: 'shop' },
      });
      bus.notify({ producer: 'features', topic: 'event' });
    },
    /** Runs a job once, while the next ApplyChanges is handled: before anything is applied, or after. */
    whileApplying: (when: 'before' | 'after', job: () => unknown): void => void applyJobs[when].push(job),
    /** Runs a job once, while the next CheckChanges is handled. */
    meanwhile: (job: () => Promise<unknown>): void => void jobs.push(job),
    /** From now on the shop has these features as well. */
    know: (features: readonly string[]): void => {
      for (const feature of features) projectOf[feature] = 'shop';
    },
    /** From now on callers do not find the project among those that they may see. */
    hide: (project: string): void => void hidden.add(project),
    link: (project: string, environments: readonly string[]): void => void linked.set(project, environments),
    /** Makes an environment require at least that many approvals in every project. */
    requireApprovals: (environment: string, count: number): void => void minApprovals.set(environment, count),
    reset: (): void => {
      checkRequests.length = 0;
      applied.length = 0;
      protection.length = 0;
      protectionStored.clear();
      archived.clear();
      edited.clear();
      storedResults.clear();
      linked.clear();
      minApprovals.clear();
      hidden.clear();
      deletedProjects.clear();
    },
    stop: (): Promise<void> => served.stop(),
  };
}
export type FakeFeaturesService = Awaited<ReturnType<typeof fakeFeaturesService>>;
