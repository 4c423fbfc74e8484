import { notFound, type Refusal } from '@bunting/contracts';
import { shortName } from '../refusals.ts';

/** 404: the feature is not in that project; if it is in another one, the message says so. */
export const featureNotFound = (name: string, project: string, elsewhere?: string): Refusal => {
  const hint = elsewhere === undefined ? '.' : `, but there's a feature with that name in project "${elsewhere}"`;
  return notFound(`There's no feature named "${shortName(name)}" in project "${shortName(project)}"${hint}`);
};
