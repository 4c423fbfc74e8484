import { onlyRow, type ReadDatabase, type Statement } from '@bunting/database';
import type { ChangeRequest, EnvironmentRef, RequestPath, Schedule } from '../requests/change-request.ts';
import type { ChangeRequestFilter } from '../domain/change-request-filter.ts';
import type { ScheduledRequest, SegmentUse } from '../previews/conflicts.ts';
import type { ActionableCounts } from '../domain/review/count-actionable.ts';
import type { Protection } from '../domain/review/review-requirement.ts';
import { requireVisible } from '../domain/require-visible.ts';
import {
  selectAcceptingRequest,
  countActionableByEnvironment,
  countByState,
  selectApprovedRequests,
  selectRequest,
  selectPendingOfFeature,
  selectPendingOfUser,
  selectProtectedEnvironments,
  type RequestRow,
  selectRequestedApprovers,
  selectRequestsOfProject,
  selectScheduledAffecting,
  selectScheduledChanges,
  selectSearchPage,
  selectSegmentUses,
  selectStrategiesUsing,
} from '../requests/request-read-store.ts';

/** A strategy to which a request adds a segment. The request is null if it is a draft of another user. */
export interface StrategyUse {
  readonly request: { readonly id: number; readonly title: string | null } | null;
  readonly strategy: {
    readonly id: string | null;
    readonly projectId: string;
    readonly featureName: string;
    readonly strategyName: string;
    readonly environment: string;
  };
}

/** A request in a search result. */
export interface FoundRequest extends Pick<
  ChangeRequest,
  'id' | 'title' | 'createdAt' | 'createdBy' | 'environment' | 'project' | 'state'
> {
  readonly features: string[];
  readonly segments: string[];
  readonly schedule: Pick<Schedule, 'status' | 'scheduledAt' | 'reason'> | null;
}

export interface CountsByState {
  readonly total: number;
  readonly applied: number;
  readonly approved: number;
  readonly rejected: number;
  readonly reviewRequired: number;
  readonly scheduled: number;
}

/** Reads committed requests, outside of a transaction. */
export const changeRequestReader = (database: ReadDatabase) => {
  const requests = async (statement: Statement, values: readonly unknown[]): Promise<ChangeRequest[]> =>
    (await database.read<RequestRow>(statement, values)).map(({ request }) => request);
  return {
    /** The request of a user that accepts changes: the draft, or else the newest one; with `draftOnly` the draft only. */
    acceptingRequest: async (
      userId: number,
      { project, environment }: EnvironmentRef,
      { draftOnly }: { readonly draftOnly: boolean },
    ): Promise<ChangeRequest | undefined> =>
      (await requests(selectAcceptingRequest, [userId, project, environment, draftOnly]))[0],
    /** The pending requests of a user in a project, also while they are applied, by environment and id. */
    pendingOfUser: (userId: number, project: string) => requests(selectPendingOfUser, [userId, project]),
    /**
     * The request of a path.
     * @throws Refusal `NotFoundError` if the project has no such request, or if it is a draft of another user.
     */
    getVisible: async ({ id, projectId }: RequestPath, userId: number): Promise<ChangeRequest> => {
      const [request] = await requests(selectRequest, [id]);
      return requireVisible(request?.project === projectId ? request : undefined, id, userId);
    },
    /** The request of that id, in whatever project. */
    byId: async (id: number): Promise<ChangeRequest | undefined> => (await requests(selectRequest, [id]))[0],
    /** The newest 300 of a project, without the drafts of others. */
    ofProject: (project: string, userId: number) => requests(selectRequestsOfProject, [project, userId]),
    /** The pending requests that affect a feature, without the drafts of others. */
    pendingOfFeature: (project: string, userId: number, feature: string) =>
      requests(selectPendingOfFeature, [project, userId, feature]),
    countsByState: async (project: string): Promise<CountsByState> =>
      onlyRow(await database.read<CountsByState>(countByState, [project])),
    /** The numbers of requests to review and to apply, by environment and by whether the user is the author. */
    actionable: (project: string, userId: number) =>
      database.read<ActionableCounts>(countActionableByEnvironment, [project, userId]),
    protectedEnvironments: (project: string) => database.read<Protection>(selectProtectedEnvironments, [project]),
    /** The next requests by id that have approvals and are not applied yet, in all projects or one: those after an id, at most 200. */
    approvedAfter: (id: number, project?: string) => requests(selectApprovedRequests, [id, project ?? null]),
    /** Scheduled requests of a project that affect any of some features, strategies or variants, by id. */
    scheduledAffecting: async (
      project: string,
      { features, strategies, variants }: Readonly<Record<'features' | 'strategies' | 'variants', readonly string[]>>,
    ): Promise<{ readonly id: number; readonly environment: string; readonly title: string | null }[]> =>
      features.length + strategies.length + variants.length === 0
        ? []
        : database.read(selectScheduledAffecting, [project, features, strategies, variants]),
    /** The changes of scheduled requests in a project that affect any of the given features or segments. */
    scheduled: async (
      project: string,
      features: readonly string[],
      segments: readonly number[],
    ): Promise<ScheduledRequest[]> =>
      features.length + segments.length === 0
        ? []
        : database.read(selectScheduledChanges, [project, features, segments]),
    /** The open requests that add any of these segments to strategies. */
    segmentUses: async (project: string, segments: readonly number[]): Promise<SegmentUse[]> =>
      segments.length === 0 ? [] : database.read(selectSegmentUses, [project, segments.map(String)]),
    /** The strategies to which open requests add a segment, as visible to a user. */
    strategiesUsing: (segment: number, userId: number, hidden: readonly string[]) =>
      database.read<StrategyUse>(selectStrategiesUsing, [String(segment), userId, hidden]),
    /** A page of the matching requests of some projects, newest first, without the drafts of others. */
    search: async (
      projects: readonly string[],
      userId: number,
      { createdBy, requestedApprover, isOpen }: ChangeRequestFilter,
      { offset, limit }: { readonly offset: number; readonly limit: number },
    ): Promise<{ readonly total: number; readonly found: readonly FoundRequest[] }> => {
      const values = [projects, userId, createdBy ?? null, requestedApprover ?? null, isOpen ?? null, offset, limit];
      return onlyRow(await database.read<{ total: number; found: FoundRequest[] }>(selectSearchPage, values));
    },
    /** Ids of the users whose approval is requested, in display order. */
    requestedApprovers: async (id: number): Promise<number[]> =>
      (await database.read<{ id: number }>(selectRequestedApprovers, [id])).map(({ id: userId }) => userId),
  };
};
export type ChangeRequestReader = ReturnType<typeof changeRequestReader>;
