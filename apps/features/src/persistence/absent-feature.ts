import { notFound, type Refusal } from '@bunting/contracts';
import { noSuchFeature } from '../domain/feature-rules.ts';
import { named } from '../domain/refusals.ts';

type Query = <Row>(text: string, values: readonly unknown[]) => Promise<Row[]>;

/** Says why a project has no such feature, in the words that clients know (admin-api.md 2.1). */
export const absentFeature = async (query: Query, project: string, name: string): Promise<Refusal> => {
  const [found] = await query<{ project: string }>('select project from feature where name = $1', [name]);
  if (found?.project === project) return notFound(`Could not find feature flag with name ${named(name)}`);
  return noSuchFeature(name, project, found?.project);
};
