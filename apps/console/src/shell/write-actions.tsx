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
  readonly canBeUndone: boolean;
}

const maxEvents = 5;
/** The newest event of an earlier write of this page: later writes have later events. */
let newestKnownId = 0;

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
  if (first === undefined || (events.length > 1 && !isOneAct)) return null;
  for (const event of events) {
    const { state } = await call(GetEventUndo, { params: { id: event.id }, signal });
    if (state === 'possible') return { event, canBeUndone: true };
  }
  return { event: first, canBeUndone: false };
}

/** The page of what an event is about; undefined where there is none. */
function pageOf({ featureName, project, type, data }: Event): string | undefined {
  if (featureName != null && project != null)
    return `/projects/${encodeURIComponent(project)}/features/${encodeURIComponent(featureName)}`;
  const id = data?.['id'];
  return type.startsWith('segment-') && type !== 'segment-deleted' && typeof id === 'number'
    ? `/admin/segments/${id}`
    : undefined;
}

/** Whoever may create something may not always remove it. */
function UndoOffer({ event, onUndo }: { readonly event: Event } & Pick<WriteActionsProps, 'onUndo'>) {
  if (!useUndoRights(event).mayUndo) return null;
  return (
    <Button size="small" onPress={() => onUndo(event)}>
      Undo
    </Button>
  );
}

interface WriteActionsProps {
  readonly write: Write;
  /** whether the message leads somewhere already */
  readonly hasLink: boolean;
  readonly onClose: () => void;
  readonly onUndo: (event: Event) => void;
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
  const { event, canBeUndone } = data;
  const page = pageOf(event);
  return (
    <>
      {canBeUndone && <UndoOffer event={event} onUndo={onUndo} />}
      {page !== undefined && !hasLink && pathname !== page && (
        <ToastAnchor label="Open" href={page} onFollow={onClose} />
      )}
    </>
  );
}
