import { type Event, GetEventUndo, SearchEvents } from '@bunting/contracts';
import { useQuery } from '@tanstack/react-query';
import { useLocation } from '@tanstack/react-router';
import { call } from '../api/call.ts';
import type { Write } from '../api/last-write.ts';
import { useMe } from '../api/queries-and-mutations.ts';
import { Button } from '../components/buttons/button.tsx';
import { useUndoRights } from '../pages/events/undo-rights.ts';
import { ToastAnchor } from './toasts.tsx';

interface WrittenEvent {
  readonly event: Event;
  /** those to undo, the newest first; empty where none can be undone */
  readonly toUndo: readonly Event[];
}

const maxEvents = 5;
/** The newest event of an earlier write of this page: later writes have later events. */
let newestKnownId = 0;

/** Whether a flag was turned on right after its strategy was saved: one message says both. */
function isSavedAndOn(events: readonly Event[]): boolean {
  const [on, strategy, ...others] = events;
  return (
    others.length === 0 &&
    on?.type === 'feature-environment-enabled' &&
    (strategy?.type === 'feature-strategy-add' || strategy?.type === 'feature-strategy-update') &&
    on.featureName === strategy.featureName &&
    on.environment === strategy.environment
  );
}

/**
 * The event of a write, where it was one act: the newest event that can be undone, else the newest. Null where several acts may be meant,
 * or none. @throws ApiError
 */
async function readWrittenEvent(userId: number, since: number, signal: AbortSignal): Promise<WrittenEvent | null> {
  const query = { createdBy: `IS:${userId}`, limit: String(maxEvents) };
  const { events: newest } = await call(SearchEvents, { query, signal });
  const events = newest.filter(({ id, createdAt }) => id > newestKnownId && Date.parse(createdAt) >= since);
  newestKnownId = Math.max(newestKnownId, ...newest.map(({ id }) => id));
  const [first] = events;
  const isOneAct = events.every(({ groupId }) => groupId != null && groupId === first?.groupId);
  const isBoth = isSavedAndOn(events);
  if (first === undefined || (events.length > 1 && !isOneAct && !isBoth)) return null;
  // What a change request did is undone by reverting it, which its page offers.
  const applied = events.filter(({ type, groupType }) => groupType === 'change-request' && !type.startsWith('change-'));
  if (applied.length > 1) return { event: first, toUndo: [] };
  for (const event of events) {
    const { state } = await call(GetEventUndo, { params: { id: event.id }, signal });
    if (state === 'possible') return { event, toUndo: isBoth ? events.slice(events.indexOf(event)) : [event] };
  }
  return { event: first, toUndo: [] };
}

/** The page of what an event is about; undefined where there is none. */
function pageOf({ featureName, project, type, data }: Event): string | undefined {
  const projectPage = project == null ? undefined : `/projects/${encodeURIComponent(project)}`;
  if (featureName != null && projectPage !== undefined)
    return `${projectPage}/features/${encodeURIComponent(featureName)}`;
  const request = data?.['changeRequestId'];
  if (type.startsWith('change-') && typeof request === 'number' && type !== 'change-request-discarded')
    return `${projectPage}/change-requests/${request}`;
  if (type === 'project-created' || type === 'project-updated' || type === 'project-revived') return projectPage;
  const id = data?.['id'];
  return type.startsWith('segment-') && type !== 'segment-deleted' && typeof id === 'number'
    ? `/admin/segments/${id}`
    : undefined;
}

interface UndoOfferProps extends Pick<WriteActionsProps, 'onUndo'> {
  /** the first of the events */
  readonly event: Event;
  readonly events: readonly Event[];
}

/** Whoever may create something may not always remove it. */
function UndoOffer({ event, events, onUndo }: UndoOfferProps) {
  if (!useUndoRights(event).mayUndo) return null;
  return (
    <Button size="small" onPress={() => onUndo(events)}>
      Undo
    </Button>
  );
}

interface WriteActionsProps {
  readonly write: Write;
  /** whether the message leads somewhere already */
  readonly hasLink: boolean;
  readonly onClose: () => void;
  readonly onUndo: (events: readonly Event[]) => void;
}

/** Undo, where the server says that the event of a write can be undone, and a link to what was written, on any page but its own. */
export function WriteActions({ write, hasLink, onClose, onUndo }: WriteActionsProps) {
  const { data: me } = useMe();
  const { pathname } = useLocation();
  const userId = me?.user.id;
  const { data } = useQuery({
    queryKey: ['writtenEvent', write.number, userId],
    queryFn: ({ signal }) => readWrittenEvent(userId ?? 0, write.since, signal),
    // The events of an admin token do not say which token it was.
    enabled: userId !== undefined && userId > 0,
    retry: false,
    // Not read again when something else is written.
    staleTime: 'static',
    gcTime: 0,
  });
  if (data == null) return null;
  const { event, toUndo } = data;
  const [newest] = toUndo;
  const page = pageOf(event);
  return (
    <>
      {newest !== undefined && <UndoOffer event={newest} events={toUndo} onUndo={onUndo} />}
      {page !== undefined && !hasLink && pathname !== page && (
        <ToastAnchor label="Open" href={page} onFollow={onClose} />
      )}
    </>
  );
}
