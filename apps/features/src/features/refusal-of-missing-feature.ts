import { type Refusal } from '@bunting/contracts';
import type { ReadDatabase } from '@bunting/database';
import { activeFeatureNotFound, featureNotInProject } from '../refusals.ts';

type Query = <Row>(text: string, values: readonly unknown[]) => Promise<Row[]>;

interface Row {
  readonly project: string;
  readonly mode: string;
}

const selectProjectOfFeature = `
  select f.project, p.mode from feature f join project p on p.id = f.project where f.name = $1`;

/** The refusal for a feature that a project does not have. It names the feature's own project unless that is private. */
export const refusalOfMissingFeature = async (query: Query, project: string, name: string): Promise<Refusal> => {
  const [row] = await query<Row>(selectProjectOfFeature, [name]);
  if (row?.project === project) return activeFeatureNotFound(name);
  return featureNotInProject(name, project, row?.mode === 'private' ? undefined : row?.project);
};

/** As `refusalOfMissingFeature`, outside of transactions. */
export const readRefusalOfMissingFeature = (
  database: ReadDatabase,
  { projectId, featureName }: { readonly projectId: string; readonly featureName: string },
): Promise<Refusal> =>
  refusalOfMissingFeature(
    (text, values) => database.read({ name: 'project-of-feature', text }, values),
    projectId,
    featureName,
  );
