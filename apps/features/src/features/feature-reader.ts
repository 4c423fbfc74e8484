import { type PageParameters, type Tag } from '@bunting/contracts';
import { type ReadDatabase, batchedRead, type Statement } from '@bunting/database';
import { featureNotFound } from '../refusals.ts';
import type { FeatureRef } from './feature-parts-reader.ts';
import { readRefusalOfMissingFeature } from './refusal-of-missing-feature.ts';
import type { JsonWithEntityTag } from '../unit-of-work/if-match.ts';
import {
  selectFeaturesOfProject,
  tagAndNamePrefixCondition,
  selectDetailedFeatures,
} from '../unit-of-work/feature-queries.ts';
import { readJson } from '../unit-of-work/read-json.ts';

/** Selects features that have any of the tags and whose name begins with the prefix, ignoring case. */
export interface FeatureListFilter extends PageParameters {
  readonly tags?: readonly Tag[] | undefined;
  readonly namePrefix?: string | undefined;
}

const detailed: Statement = { name: 'features', text: selectDetailedFeatures(false) };
const detailedWithVariants: Statement = { name: 'features-with-variants', text: selectDetailedFeatures(true) };
const ofProject: Statement = { name: 'features-of-project', text: selectFeaturesOfProject(tagAndNamePrefixCondition) };

const pageOfProject: Statement = {
  name: 'page-of-features-of-project',
  text: selectFeaturesOfProject(tagAndNamePrefixCondition, 'limit $5::int offset $6::int'),
};

const tags: Statement = {
  name: 'tags-of-feature',
  text: `select json_build_object('version', 1, 'tags', tags)::text as json, edit_version::text as tag from feature
    where name = $1 and project <> all ($2::text[])`,
};

/** Reads features outside of transactions, as JSON that PostgreSQL builds, in one statement each. */
export const featureReader = (database: ReadDatabase) => {
  const readWithoutVariants = batchedRead<[name: string, project: string, userId: number], JsonWithEntityTag>(
    database,
    detailed,
  );
  const readWithVariants = batchedRead<[name: string, project: string, userId: number], JsonWithEntityTag>(
    database,
    detailedWithVariants,
  );

  return {
    /** A feature with the favourite mark of a user, in one batch with concurrent reads. */
    one: async (feature: FeatureRef, userId: number, withVariants: boolean): Promise<JsonWithEntityTag> => {
      const read = withVariants ? readWithVariants : readWithoutVariants;
      const found = await read(feature.featureName, feature.projectId, userId);
      if (found === undefined) throw await readRefusalOfMissingFeature(database, feature);
      return found;
    },

    ofProject: (
      project: string,
      userId: number,
      { tags: requestedTags, namePrefix = '', limit, offset = 0 }: FeatureListFilter,
    ): Promise<string> => {
      const documents = requestedTags?.map((tag) => JSON.stringify([tag])) ?? null;
      const values = [project, userId, documents, namePrefix.toLowerCase()];
      const isUnpaged = limit === undefined && offset === 0;
      return isUnpaged
        ? readJson(database, ofProject, values)
        : readJson(database, pageOfProject, [...values, limit ?? null, offset]);
    },

    tagsOf: async (name: string, hidden: readonly string[]): Promise<JsonWithEntityTag> => {
      const [found] = await database.read<JsonWithEntityTag>(tags, [name, hidden]);
      if (found === undefined) throw featureNotFound(name);
      return found;
    },
  };
};
