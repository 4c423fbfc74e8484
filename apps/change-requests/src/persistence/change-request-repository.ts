import { brokenConstraint, type Database, type Tx } from '@bunting/database';
import { LockMode } from '@mikro-orm/postgresql';
import type { ChangeRequest, ProposedChange } from '../domain/change-request.ts';
import { ApprovalEntity, ChangeEntity, ChangeRequestEntity } from './entities.ts';
import { openRequest, openRequests, requestById } from './statements.ts';
import { openRequestIndex } from './migrations/tables.ts';

interface Row {
  readonly request: ChangeRequest;
}

/** Where a request belongs. */
export interface Place {
  readonly project: string;
  readonly environment: string;
}

/** Requests as they are now, for who only looks. */
export interface ChangeRequestReader {
  /** The one request of a user that takes changes there. */
  open(userId: number, place: Place): Promise<ChangeRequest | undefined>;
  /** All requests of a user that take changes in a project, by environment and id: one statement, however many they are. */
  allOpen(userId: number, project: string): Promise<ChangeRequest[]>;
}

export const changeRequestReader = (database: Database): ChangeRequestReader => ({
  open: async (userId, { project, environment }) =>
    (await database.read<Row>(openRequest, [userId, project, environment]))[0]?.request,
  allOpen: async (userId, project) =>
    (await database.read<Row>(openRequests, [userId, project])).map(({ request }) => request),
});

/** The author of a new request has got another open one in the meantime: nothing of this unit of work can be stored. */
export class AnotherOpenRequest extends Error {}

/** Requests within a unit of work. */
export interface ChangeRequestRepository {
  newRequestId(): Promise<number>;
  /** Ids for what is about to be stored, ascending. Those that are not used in the end are used by nobody. */
  newChangeIds(count: number): Promise<number[]>;
  /** The request, locked: whoever else wants to write it waits for the end of this unit of work. */
  getForUpdate(id: number): Promise<ChangeRequest | undefined>;
  /** Stores a new request. Waits for a request of the same author, project and environment that is being stored now. */
  add(request: ChangeRequest): Promise<void>;
  /** Stores what became of a request that was locked before. */
  save(before: ChangeRequest, after: ChangeRequest): Promise<void>;
}

const changeRow = (requestId: number, change: ProposedChange) => ({
  id: change.id,
  changeRequest: requestId,
  position: change.position,
  action: change.action,
  feature: change.feature,
  segmentId: change.segment?.id ?? null,
  segmentName: change.segment?.name ?? null,
  payload: change.payload,
  snapshot: change.snapshot,
  createdById: change.createdBy.id,
  createdByName: change.createdBy.name,
  createdAt: change.createdAt,
});

export const changeRequestRepository = ({ em, query }: Tx): ChangeRequestRepository => {
  const saveChanges = ({ id, changes }: ChangeRequest, before: readonly ProposedChange[]): void => {
    const known = new Map(before.map((change) => [change.id, change]));
    for (const change of changes) {
      const earlier = known.get(change.id);
      known.delete(change.id);
      if (earlier === undefined) em.create(ChangeEntity, changeRow(id, change));
      else if (earlier !== change) em.assign(em.getReference(ChangeEntity, change.id), changeRow(id, change));
    }
    for (const gone of known.keys()) em.remove(em.getReference(ChangeEntity, gone));
  };

  return {
    newRequestId: async () => {
      const [row] = await query<{ id: number }>("select nextval('change_request_id_seq') as id");
      if (row === undefined) throw new Error('A sequence always has a next value.');
      return row.id;
    },

    newChangeIds: async (count) => {
      const text = "select nextval('change_id_seq') as id from generate_series(1, $1::integer)";
      return (await query<{ id: number }>(text, [count])).map(({ id }) => id);
    },

    getForUpdate: async (id) => {
      const locked = await em.findOne(ChangeRequestEntity, { id }, { lockMode: LockMode.PESSIMISTIC_WRITE });
      return locked === null ? undefined : (await query<Row>(requestById, [id]))[0]?.request;
    },

    add: async (request) => {
      const { id, project, environment, title, state, minApprovals, createdAt, revision, stateTimestamps } = request;
      const { id: createdById, name: createdByName } = request.createdBy;
      em.create(ChangeRequestEntity, {
        ...{ id, project, environment, title, state, minApprovals, createdAt, revision, stateTimestamps },
        createdById,
        createdByName,
      });
      saveChanges(request, []);
      try {
        await em.flush();
      } catch (error) {
        throw brokenConstraint(error) === openRequestIndex ? new AnotherOpenRequest() : error;
      }
    },

    save: async (before, after) => {
      const { id, title, state, revision, stateTimestamps } = after;
      em.assign(em.getReference(ChangeRequestEntity, id), { title, state, revision, stateTimestamps });
      saveChanges(after, before.changes);
      for (const { createdBy } of before.approvals) {
        const kept = after.approvals.some((approval) => approval.createdBy.id === createdBy.id);
        if (!kept) em.remove(em.getReference(ApprovalEntity, [id, createdBy.id]));
      }
      await em.flush();
    },
  };
};
