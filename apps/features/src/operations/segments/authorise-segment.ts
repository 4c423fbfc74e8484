import { type Caller, invalid, maySee, type Permission } from '@bunting/contracts';
import { named } from '../../domain/refusals.ts';
import { authorise } from '../authorise.ts';
import { authoriseEverywhere } from '../authorise-everywhere.ts';

/** A segment of a project may be changed by those who may do so in it; one for every project takes the right everywhere. */
export const authoriseSegment = (
  caller: Caller,
  [everywhere, inProject]: readonly [Permission, Permission],
  project: string | null,
): void => {
  if (project !== null && !maySee(caller, project)) {
    throw invalid(
      `The \`/body/project\` property must name a project that exists. You provided "${named(project)}".`,
      '/body/project',
    );
  }
  if (project === null) authoriseEverywhere(caller, everywhere);
  else authorise(caller, [everywhere, inProject], { project });
};
