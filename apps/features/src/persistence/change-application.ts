import type { AppliedChanges } from '@bunting/contracts';
import type { Tx } from '@bunting/database';
import type { Outbox } from '@bunting/outbox';
import type { StoredSegment } from '../domain/segment.ts';
import { type FoundSituation, situationReader, type Subjects } from './situation-reader.ts';

/** What applying a change request takes beside the features themselves, within a unit of work. */
export interface ChangeApplication {
  /** The answer that an attempt has already, or that no longer matters; the request is locked against other attempts. */
  answerOf(id: number, attempt: number): Promise<AppliedChanges | undefined>;
  /** Remembers the answer of an attempt. */
  answer(id: number, attempt: number, result: AppliedChanges): Promise<void>;
  lockSegments(ids: readonly number[]): Promise<void>;
  situation(subjects: Subjects, hidden: readonly string[]): Promise<FoundSituation | undefined>;
  saveSegment(segment: StoredSegment): Promise<void>;
  deleteSegment(segment: StoredSegment): Promise<void>;
}

const superseded: AppliedChanges = {
  outcome: 'conflict',
  conflicts: [{ code: 'superseded', message: 'Change request was applied or changed by someone else' }],
  inverse: [],
};

const answered = 'select attempt, result from applied_change_request where id = $1 for update';
const claim = 'insert into applied_change_request (id, attempt) values ($1, 0) on conflict (id) do nothing';
const updateSegment = `
  update segment set name = $2, description = $3, project = $4, constraints = $5::jsonb, version = version + 1
  where id = $1 returning version`;

export const changeApplication = ({ query }: Tx, outbox: Outbox): ChangeApplication => ({
  answerOf: async (id, attempt) => {
    await query(claim, [id]);
    const [row] = await query<{ attempt: number; result: AppliedChanges | null }>(answered, [id]);
    if (row?.result?.outcome === 'applied') return row.result;
    if (row === undefined || row.result === null || row.attempt < attempt) return undefined;
    return row.attempt === attempt ? row.result : superseded;
  },

  answer: async (id, attempt, result) => {
    const text = 'update applied_change_request set attempt = $2, result = $3::json where id = $1';
    await query(text, [id, attempt, JSON.stringify(result)]);
  },

  lockSegments: async (ids) => {
    if (ids.length > 0) {
      await query('select id from segment where id = any ($1::integer[]) order by id for update', [ids]);
    }
  },

  situation: situationReader({ read: ({ text }, values) => query(text, values) }),

  saveSegment: async ({ id, name, description, project, constraints }) => {
    const values = [id, name, description, project, JSON.stringify(constraints)];
    const [row] = await query<{ version: number }>(updateSegment, values);
    outbox.state({ entity: 'segment', id: String(id), version: row?.version ?? 1, state: { id, name, project } });
  },

  deleteSegment: async ({ id }) => {
    const text = 'delete from segment where id = $1 returning version';
    const [row] = await query<{ version: number }>(text, [id]);
    if (row === undefined) return;
    outbox.state({ entity: 'segment', id: String(id), version: row.version + 1, state: null });
  },
});
