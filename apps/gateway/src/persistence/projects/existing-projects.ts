import { projectNotFound } from '@bunting/contracts';
import type { Database, Statement, Tx } from '@bunting/database';

/** Which of the ids, or of all projects, are in the gateway's projection of projects. */
export type FindExistingProjects = (ids?: readonly string[]) => Promise<readonly string[]>;

/** SQL: a project that the features service emitted and that is not deleted. */
const isExistingSql = 'deleted_at is null and version >= 0';

const existingProjects: Statement = {
  name: 'existing-projects',
  text: `select id from project where ($1::text[] is null or id = any ($1::text[])) and ${isExistingSql}`,
};

export const existingProjectsReader =
  (database: Database): FindExistingProjects =>
  async (ids) =>
    (await database.read<{ id: string }>(existingProjects, [ids ?? null])).map(({ id }) => id);

/**
 * Locks projects of the projection against deletion until the transaction ends, so that a later deletion sees the rows that the transaction
 * writes.
 * @throws Refusal `NotFoundError` for a project that was deleted meanwhile
 */
export const lockExistingProjects = async ({ query }: Pick<Tx, 'query'>, ids: readonly string[]): Promise<void> => {
  const text = `select id from project where id = any ($1::text[]) and ${isExistingSql} order by id for key share`;
  const existing = (await query<{ id: string }>(text, [ids])).map(({ id }) => id);
  const missing = ids.find((id) => !existing.includes(id));
  if (missing !== undefined) throw projectNotFound(missing);
};
