import { notFound } from '@bunting/contracts';
import type { Database, Statement, Tx } from '@bunting/database';

/** Those of the projects, or of all, that the gateway has heard of. */
export type FindKnownProjects = (ids?: readonly string[]) => Promise<readonly string[]>;

/** SQL: a project that the features service told of and that was not deleted. */
const stands = 'deleted_at is null and version >= 0';

const heardOf: Statement = {
  name: 'projects-heard-of',
  text: `select id from project where ($1::text[] is null or id = any ($1::text[])) and ${stands}`,
};

export const knownProjectsReader =
  (database: Database): FindKnownProjects =>
  async (ids) =>
    (await database.read<{ id: string }>(heardOf, [ids ?? null])).map(({ id }) => id);

/**
 * Makes sure that projects that were heard of are not deleted, and keeps them until the end of this work: what is written for
 * them is there when their deletion takes all that is theirs.
 * @throws Refusal `NotFoundError` for one that was deleted meanwhile.
 */
export const lockExistingProjects = async ({ query }: Pick<Tx, 'query'>, heard: readonly string[]): Promise<void> => {
  const text = `select id from project where id = any ($1::text[]) and ${stands} order by id for key share`;
  const standing = (await query<{ id: string }>(text, [heard])).map(({ id }) => id);
  const gone = heard.find((id) => !standing.includes(id));
  if (gone !== undefined) throw notFound(`Could not find project with id ${gone}`);
};
