import { notFound, type Page, type Tag } from '@bunting/contracts';
import { type Database, batchedRead, type Statement } from '@bunting/database';
import { shortName } from '../../domain/refusals.ts';
import { missingFeature } from './missing-feature.ts';
import type { TaggedJson } from '../entity-tags.ts';
import { featuresOfProject, tagAndNamePrefix, wholeFeatures } from './feature-json.ts';

/** Selects features with any of the tags, whose name begins with the prefix, ignoring case. */
export interface FeatureListFilter extends Page {
  readonly tags?: readonly Tag[] | undefined;
  readonly namePrefix?: string | undefined;
}

const whole: Statement = { name: 'whole-features', text: wholeFeatures(false) };
const wholeWithVariants: Statement = { name: 'whole-features-with-variants', text: wholeFeatures(true) };
const ofProject: Statement = { name: 'features-of-project', text: featuresOfProject(tagAndNamePrefix) };

const pageOfProject: Statement = {
  name: 'page-of-features-of-project',
  text: featuresOfProject(tagAndNamePrefix, 'limit $5::int offset $6::int'),
};

const tags: Statement = {
  name: 'tags-of-feature',
  text: `select json_build_object('version', 1, 'tags', tags)::text as json, edition::text as tag from feature
    where name = $1 and project <> all ($2::text[])`,
};

/** Reads features outside of transactions, as JSON that PostgreSQL builds, in one statement each. */
export const featureReader = (database: Database) => {
  const json = async (statement: Statement, values: readonly unknown[]): Promise<string | undefined> =>
    (await database.read<{ json: string }>(statement, values))[0]?.json;
  const readWhole = batchedRead<[name: string, project: string, userId: number], TaggedJson>(database, whole);
  const readWithVariants = batchedRead<[name: string, project: string, userId: number], TaggedJson>(
    database,
    wholeWithVariants,
  );

  return {
    whole: async (
      { project, name }: { readonly project: string; readonly name: string },
      userId: number,
      withVariants: boolean,
    ): Promise<TaggedJson> => {
      const found = await (withVariants ? readWithVariants : readWhole)(name, project, userId);
      if (found !== undefined) return found;
      throw await missingFeature(
        (text, values) => database.read({ name: 'project-of-feature', text }, values),
        project,
        name,
      );
    },

    ofProject: async (
      project: string,
      userId: number,
      { tags: wanted, namePrefix = '', limit, offset = 0 }: FeatureListFilter,
    ): Promise<string> => {
      const documents = wanted?.map((tag) => JSON.stringify([tag])) ?? null;
      const values = [project, userId, documents, namePrefix.toLowerCase()];
      const isWhole = limit === undefined && offset === 0;
      return (
        (await (isWhole ? json(ofProject, values) : json(pageOfProject, [...values, limit ?? null, offset]))) ?? ''
      );
    },

    tagsOf: async (name: string, hidden: readonly string[]): Promise<TaggedJson> => {
      const [found] = await database.read<TaggedJson>(tags, [name, hidden]);
      if (found === undefined) throw notFound(`Could not find feature with name ${shortName(name)}`);
      return found;
    },
  };
};
