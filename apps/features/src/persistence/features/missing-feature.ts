import { notFound, type Refusal } from '@bunting/contracts';
import { noSuchFeature } from '../../domain/feature-rules.ts';
import { named } from '../../domain/refusals.ts';

type Query = <Row>(text: string, values: readonly unknown[]) => Promise<Row[]>;

interface Row {
  readonly project: string;
  readonly mode: string;
}

const whereItIs = `
  select f.project, p.mode from feature f join project p on p.id = f.project where f.name = $1`;

/**
 * Says why a project has no such feature, in the words that clients know (admin-api.md 2.1). Where a feature of a private project is,
 * nobody is told.
 */
export const absentFeature = async (query: Query, project: string, name: string): Promise<Refusal> => {
  const [found] = await query<Row>(whereItIs, [name]);
  if (found?.project === project) return notFound(`Could not find feature flag with name ${named(name)}`);
  return noSuchFeature(name, project, found?.mode === 'private' ? undefined : found?.project);
};
