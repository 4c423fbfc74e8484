import { type Bus, call, type CallContext } from '@bunting/bus';
import { PreviewChanges, type PreviewChangesReply } from '@bunting/contracts';
import type { ChangeRequest, ProposedChange } from '../domain/change-request.ts';
import { isClosed } from '../domain/content.ts';
import type { Outlook } from '../domain/view.ts';
import { asPosted } from './as-posted.ts';

export type Preview = PreviewChangesReply['previews'][number];

/** How many changes one call asks about: a call must fit into one message of the bus, with its answer. */
const mostChangesAtOnce = 1000;

/** A change with what it replaced, for the service that knows what it means. */
export const requested = (change: ProposedChange, snapshots: Readonly<Record<string, unknown>> = {}) => ({
  id: change.id,
  change: asPosted(change),
  snapshot: Object.hasOwn(snapshots, change.id) ? snapshots[change.id] : change.snapshot,
});

const inPages = (requests: readonly ChangeRequest[]): ChangeRequest[][] => {
  const pages: ChangeRequest[][] = [];
  let room = 0;
  for (const request of requests) {
    room -= request.changes.length;
    const page = pages.at(-1);
    if (page !== undefined && room >= 0) page.push(request);
    else {
      pages.push([request]);
      room = mostChangesAtOnce - request.changes.length;
    }
  }
  return pages;
};

/** What the requests of a project would come to, each by itself: one call for as many of them as fit into it. */
export const previewsOf = async (
  bus: Bus,
  project: string,
  requests: readonly ChangeRequest[],
  withStates: boolean,
  context: CallContext,
): Promise<Map<number, Preview>> => {
  const pages = await Promise.all(
    inPages(requests).map(async (page) => {
      const asked = page.map(({ environment, changes, schedule }) => ({
        environment,
        changes: changes.map((change) => requested(change, schedule?.snapshots)),
      }));
      const { previews } = await call(bus, PreviewChanges, { body: { project, withStates, requests: asked } }, context);
      return page.map(({ id }, nth) => [id, previews[nth]] as const);
    }),
  );
  return new Map(pages.flat().flatMap(([id, preview]) => (preview === undefined ? [] : [[id, preview] as const])));
};

/** What is shown beside the changes of requests: nothing beside those that are closed, which nobody will apply. */
export const outlooksOf = async (
  bus: Bus,
  project: string,
  requests: readonly ChangeRequest[],
  context: CallContext,
): Promise<(request: ChangeRequest) => Outlook | undefined> => {
  const open = requests.filter((request) => !isClosed(request) && request.changes.length > 0);
  const previews = open.length === 0 ? undefined : await previewsOf(bus, project, open, false, context);
  return ({ id }) => previews?.get(id)?.preview;
};
