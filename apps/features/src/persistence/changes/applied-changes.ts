import type { AppliedChanges } from '@bunting/contracts';
import type { Tx } from '@bunting/database';
import type { Outbox } from '@bunting/outbox';
import type { StoredSegment } from '../../domain/segment.ts';
import { situationReader } from './situation-reader.ts';

/** One attempt to apply a change request. */
export interface ApplyAttempt {
  readonly id: number;
  /** null of a request that is older than these uids */
  readonly uid: string | null;
  readonly attempt: number;
  /** a hash of what is to be applied */
  readonly content: string;
}

const superseded: AppliedChanges = {
  outcome: 'conflict',
  conflicts: [{ code: 'superseded', message: 'Change request was applied or changed by someone else' }],
  inverse: [],
};

const answered = 'select uid, attempt, content, result from applied_change_request where id = $1 for update';
interface Answered {
  readonly uid: string | null;
  readonly attempt: number;
  /** null where an older version stored the answer */
  readonly content: string | null;
  readonly result: AppliedChanges | null;
}

const claim = 'insert into applied_change_request (id, attempt) values ($1, 0) on conflict (id) do nothing';
const updateSegment = `
  update segment set name = $2, description = $3, project = $4, constraints = $5::jsonb, version = version + 1
  where id = $1 returning version`;

/** What applying a change request takes beside the features themselves, within a unit of work. */
export const changeApplication = ({ query }: Tx, outbox: Outbox) => ({
  /** The answer that an attempt has already, or that no longer matters; the request is locked against other attempts. */
  findResult: async ({ id, uid, attempt, content }: ApplyAttempt): Promise<AppliedChanges | undefined> => {
    await query(claim, [id]);
    const [row] = await query<Answered>(answered, [id]);
    // After a restore of the change requests service its ids are given again: the answer is that of another request.
    if (row === undefined || row.result === null || row.uid !== uid) return undefined;
    const isSame = row.content === null || row.content === content;
    if (isSame && row.result.outcome === 'applied') return row.result;
    if (row.attempt > attempt) return superseded;
    return isSame && row.attempt === attempt ? row.result : undefined;
  },

  /** Stores the answer of an attempt. */
  storeResult: async ({ id, uid, attempt, content }: ApplyAttempt, result: AppliedChanges): Promise<void> => {
    const text =
      'update applied_change_request set uid = $2, attempt = $3, content = $4, result = $5::json where id = $1';
    await query(text, [id, uid, attempt, content, JSON.stringify(result)]);
  },

  lockSegments: async (ids: readonly number[]): Promise<void> => {
    if (ids.length > 0) {
      await query('select id from segment where id = any ($1::integer[]) order by id for update', [ids]);
    }
  },

  situation: situationReader({ read: ({ text }, values) => query(text, values) }),

  saveSegment: async ({ id, name, description, project, constraints }: StoredSegment): Promise<void> => {
    const values = [id, name, description, project, JSON.stringify(constraints)];
    const [row] = await query<{ version: number }>(updateSegment, values);
    outbox.state({ entity: 'segment', id: String(id), version: row?.version ?? 1, state: { id, name, project } });
  },

  deleteSegment: async ({ id }: StoredSegment): Promise<void> => {
    const text = 'delete from segment where id = $1 returning version';
    const [row] = await query<{ version: number }>(text, [id]);
    if (row === undefined) return;
    outbox.state({ entity: 'segment', id: String(id), version: row.version + 1, state: null });
  },
});
export type ChangeApplication = ReturnType<typeof changeApplication>;
