import { implement } from '@bunting/bus';
import { type Change, PreviewChanges, projectNotFound } from '@bunting/contracts';
import { segmentIdsOf } from '../../domain/changes/subjects-of-changes.ts';
import { currentSnapshot } from '../../domain/changes/find-overwrites.ts';
import { previewChanges } from '../../domain/changes/preview-changes.ts';
import type { StoredChangeContext } from '../../persistence/changes/change-context-reader.ts';
import { hiddenProjectsOf } from '../visibility.ts';
import { toChangeContext } from './to-change-context.ts';
import { featureNamesToRead, changeContextQuery } from './change-context-query.ts';
import type { FeaturesContext } from '../context.ts';

const pick = <Key, Value>(map: ReadonlyMap<Key, Value>, keys: readonly Key[]): ReadonlyMap<Key, Value> =>
  new Map(
    keys.flatMap((key) => {
      const value = map.get(key);
      return value === undefined ? [] : [[key, value] as const];
    }),
  );

/** The part of the stored context that one request needs, so that its preview does not get slower with the number of requests. */
const partOf = (stored: StoredChangeContext, changes: readonly Change[]): StoredChangeContext => ({
  ...stored,
  features: pick(stored.features, featureNamesToRead(changes)),
  segments: pick(stored.segments, segmentIdsOf(changes)),
});

/** Previews change requests independently of each other. Reads what they refer to in one statement. */
export const previewChangesEndpoint = ({ readChangeContext }: FeaturesContext) =>
  implement(PreviewChanges, async ({ body, caller, now }) => {
    const { project, requests, withStates } = body;
    const changes = requests.flatMap((request) => request.changes.map(({ change }) => change));
    const stored = await readChangeContext(changeContextQuery(project, changes), hiddenProjectsOf(caller));
    if (stored === undefined) throw projectNotFound(project);
    const previews = requests.map((request) => {
      const storedForRequest =
        requests.length === 1
          ? stored
          : partOf(
              stored,
              request.changes.map(({ change }) => change),
            );
      const changeContext = toChangeContext(storedForRequest, request.environment, now);
      return {
        preview: previewChanges(request.changes, changeContext, withStates),
        snapshots: withStates
          ? request.changes.map(({ id, change }) => ({ id, snapshot: currentSnapshot(change, changeContext) }))
          : [],
      };
    });
    return { previews };
  });
