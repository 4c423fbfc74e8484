import { type Bus, call, type CallContext } from '@bunting/bus';
import { PreviewChanges, type PreviewChangesReply } from '@bunting/contracts';
import type { ChangeRequest, ProposedChange } from '../domain/change-request.ts';
import { isClosed } from '../domain/content.ts';
import { withOtherRequests, type OtherRequests } from '../domain/other-requests.ts';
import type { Outlook } from '../domain/view.ts';
import type { ChangeRequestReader } from '../persistence/change-request-repository.ts';
import { asPosted } from './as-posted.ts';

export type Preview = PreviewChangesReply['previews'][number];

// The limits of one call, so that request and response fit into one message of the bus.
const maxChangesPerCall = 1000;
const maxBytesPerCall = 2 * 1024 * 1024;

/** A change with its snapshot, as the features service takes it. */
export const changeWithSnapshot = (change: ProposedChange, snapshots: Readonly<Record<string, unknown>> = {}) => ({
  id: change.id,
  change: asPosted(change),
  snapshot: Object.hasOwn(snapshots, change.id) ? snapshots[change.id] : change.snapshot,
});

const sizeOf = ({ changes, schedule }: ChangeRequest): number => JSON.stringify([changes, schedule]).length;

/** Splits requests into batches within the limits of one call; a larger request is a batch of its own. */
export const inPages = (
  requests: readonly ChangeRequest[],
  { changes: mostChanges, bytes: mostBytes } = { changes: maxChangesPerCall, bytes: maxBytesPerCall },
): ChangeRequest[][] => {
  const pages: ChangeRequest[][] = [];
  let [changes, bytes] = [0, 0];
  for (const request of requests) {
    const size = sizeOf(request);
    const page = pages.at(-1);
    const fits = changes + request.changes.length <= mostChanges && bytes + size <= mostBytes;
    if (page !== undefined && fits) page.push(request);
    else {
      pages.push([request]);
      [changes, bytes] = [0, 0];
    }
    changes += request.changes.length;
    bytes += size;
  }
  return pages;
};

/** What previews are built from: calls of the features service, and other requests from the database. */
export interface PreviewSources {
  readonly bus: Bus;
  readonly reader: ChangeRequestReader;
}

const segmentsToDelete = (changes: readonly ProposedChange[]): number[] =>
  changes.flatMap(({ action, segment }) => (action === 'deleteSegment' && segment !== null ? [segment.id] : []));

/** What others have planned that the requests could meet: two statements at most, however many requests they are. */
const othersOf = async (
  { reader }: PreviewSources,
  project: string,
  requests: readonly ChangeRequest[],
): Promise<(request: ChangeRequest) => OtherRequests> => {
  const changes = requests.flatMap((request) => request.changes);
  const features = [...new Set(changes.flatMap(({ feature }) => feature ?? []))];
  const parents = changes.flatMap(({ action, payload }) => (action === 'addDependency' ? parentIn(payload) : []));
  const segments = [...new Set(changes.flatMap(({ segment }) => segment?.id ?? []))];
  const [planned, uses] = await Promise.all([
    reader.planned(project, [...features, ...parents], segments),
    reader.segmentUses(project, segmentsToDelete(changes)),
  ]);
  return (request) => ({
    planned: planned.filter(({ id }) => id !== request.id),
    usedSegments: new Set(uses.filter(({ id }) => id !== request.id).map(({ segment }) => segment)),
  });
};

const parentIn = (payload: unknown): string[] =>
  typeof payload === 'object' && payload !== null && 'feature' in payload && typeof payload.feature === 'string'
    ? [payload.feature]
    : [];

/**
 * What the requests of a project would come to, each by itself and beside what others have planned: one call for as many of
 * them as fit into it, and two statements.
 */
export const previewsOf = async (
  looking: PreviewSources,
  project: string,
  requests: readonly ChangeRequest[],
  withStates: boolean,
  context: CallContext,
): Promise<Map<number, Preview>> => {
  const asked = inPages(requests).map(async (page) => {
    const body = {
      project,
      withStates,
      requests: page.map(({ environment, changes, schedule }) => ({
        environment,
        changes: changes.map((change) => changeWithSnapshot(change, schedule?.snapshots)),
      })),
    };
    return { page, ...(await call(looking.bus, PreviewChanges, { body }, context)) };
  });
  // Awaited together: a rejection without a handler would be reported as unhandled.
  const [othersFor, answers] = await Promise.all([othersOf(looking, project, requests), Promise.all(asked)]);
  const found = answers.flatMap(({ page, previews }) =>
    page.flatMap((request, nth) => {
      const known = previews[nth];
      if (known === undefined) return [];
      return [
        [request.id, { ...known, preview: withOtherRequests(known.preview, request, othersFor(request)) }] as const,
      ];
    }),
  );
  return new Map(found);
};

/** What is shown beside the changes of requests: nothing beside those that are closed, which nobody will apply. */
export const openPreviewsOf = async (
  looking: PreviewSources,
  project: string,
  requests: readonly ChangeRequest[],
  context: CallContext,
): Promise<(request: ChangeRequest) => Outlook | undefined> => {
  const open = requests.filter((request) => !isClosed(request) && request.changes.length > 0);
  const previews = open.length === 0 ? undefined : await previewsOf(looking, project, open, false, context);
  return ({ id }) => previews?.get(id)?.preview;
};
