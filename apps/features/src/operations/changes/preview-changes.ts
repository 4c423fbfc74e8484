import { implement } from '@bunting/bus';
import { notFound, PreviewChanges } from '@bunting/contracts';
import { randomUUID } from 'node:crypto';
import { replacedNow } from '../../domain/changes/overwrites.ts';
import { previewChanges } from '../../domain/changes/preview.ts';
import { named } from '../../domain/refusals.ts';
import type { SituationReader } from '../../persistence/situation-reader.ts';
import { hiddenFrom } from '../seen-by.ts';
import { subjectsOf } from './check-changes.ts';

/** Says what change requests would come to, each by itself: one statement for all that they are about. */
export const previewChangesEndpoint = (readSituation: SituationReader) =>
  implement(PreviewChanges, async ({ body, caller, now }) => {
    const { project, requests, withStates } = body;
    const changes = requests.flatMap((request) => request.changes.map(({ change }) => change));
    const found = await readSituation(subjectsOf(project, changes), hiddenFrom(caller));
    if (found === undefined) throw notFound(`Could not find project with id ${named(project)}`);
    const previews = requests.map((request) => {
      const { environment } = request;
      const situation = { ...found, environment, now: now.toISOString(), newStrategyId: randomUUID };
      return {
        preview: previewChanges(request.changes, situation, withStates),
        snapshots: withStates
          ? request.changes.map(({ id, change }) => ({ id, snapshot: replacedNow(change, situation) }))
          : [],
      };
    });
    return { previews };
  });
