import { implement } from '@bunting/bus';
import { HideProject } from '@bunting/contracts';
import type { ProjectHidings } from '../../persistence/project-hidings.ts';

/** @param forget drops the cached callers of this gateway; others hear of it from the database */
export const hideProjectEndpoint = (hidings: Pick<ProjectHidings, 'hide'>, forget: () => void) =>
  implement(HideProject, async ({ body: { id, version } }) => {
    await hidings.hide(id, version);
    forget();
    return null;
  });
