import { type EventLogVerification, SearchEvents, VerifyEventLog } from '@bunting/contracts';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { call } from '../../api/call.ts';
import { operationKey } from '../../api/queries-and-mutations.ts';
import { Button, PlaceOfButton } from '../../components/buttons/button.tsx';
import { ErrorNotice, Notice } from '../../components/content/notice.tsx';
import { Loading } from '../../components/content/query-result.tsx';
import { Badge } from '../../components/content/badge.tsx';
import { Dialog } from '../../components/dialogs/dialog.tsx';
import { TextField } from '../../components/forms/fields.tsx';
import { CopyableSecret } from '../../components/content/copyable-secret.tsx';
import layout from '../../components/layout/layout.module.css';
import { formatCount } from '../../text/format-number.ts';
/** The number of newest events that are checked whenever the page is opened; the dialog checks all events. */
const recentEventCount = 1_000;
/** The end of the log at an earlier time, as a user noted it: the id and the hash of the last event. */
const notedEndPattern = /^\d{1,15}:[0-9a-f]{64}$/i;

interface Progress {
  readonly checkedTo: number;
  readonly to: number;
}

interface CheckResult {
  /** the report of the last call */
  readonly report: EventLogVerification;
  /** the number of events that all calls have checked */
  readonly checked: number;
}

/** Verifies all events in several calls: each continues where the previous one reached its deadline. @throws ApiError */
async function verifyAll(
  notedEnd: string,
  signal: AbortSignal,
  onProgress: (progress: Progress) => void,
): Promise<CheckResult> {
  let checked = 0;
  for (let from: number | undefined; ;) {
    const query = { ...(from === undefined ? {} : { from }), ...(notedEnd === '' ? {} : { known: notedEnd }) };
    const report = await call(VerifyEventLog, { query, signal });
    checked += report.checked;
    const isEnd = report.fault !== null || report.checkedTo >= report.to || report.checked === 0;
    if (isEnd) return { report, checked };
    onProgress({ checkedTo: report.checkedTo, to: report.to });
    from = report.checkedTo + 1;
  }
}

function CheckReport({ report, checked }: CheckResult) {
  const { fault, neverArrived, deadLetters, head, checkedTo, to } = report;
  return (
    <>
      {fault !== null && (
        <Notice tone="danger">
          Event {fault.id}: {fault.message} Compare with a backup, and find out who could write to the database of the
          event log.
        </Notice>
      )}
      {fault === null && checkedTo < to && <Notice tone="warning">The check was not finished. Run it again.</Notice>}
      {fault === null && checkedTo >= to && (
        <p role="status">
          <Badge tone="good">✓</Badge>{' '}
          {`${formatCount(checked, 'event')} checked: each is what it was when it was recorded.`}
        </p>
      )}
      {neverArrived.map(({ service, first, last }) => (
        <Notice key={`${service}-${first}`} tone="warning">
          The events {first} to {last} of the service {service} never arrived: it had deleted them before. An old backup
          may have been restored.
        </Notice>
      ))}
      {deadLetters.length > 0 && (
        <Notice tone="warning">
          {formatCount(deadLetters.length, 'event')} could not be recorded yet, and will be tried again.
        </Notice>
      )}
      <section className={layout['stack']}>
        <h3>The end of the log</h3>
        <p>
          Keep this text outside of Bunting. Entered below at a later time, it proves that the log was neither cut off
          nor rewritten.
        </p>
        <CopyableSecret label="The end of the log" value={`${head.id}:${head.hash}`} />
      </section>
    </>
  );
}

function IntegrityDialog({ onClose }: { readonly onClose: () => void }) {
  const [notedEnd, setNotedEnd] = useState('');
  const [checkedEnd, setCheckedEnd] = useState('');
  const [progress, setProgress] = useState<Progress | undefined>();
  const isMalformed = notedEnd.trim() !== '' && !notedEndPattern.test(notedEnd.trim());
  const query = useQuery({
    queryKey: operationKey(VerifyEventLog, 'all', checkedEnd),
    queryFn: ({ signal }) => verifyAll(checkedEnd, signal, setProgress),
    staleTime: Infinity,
    gcTime: 0,
    retry: false,
  });
  const check = (): void => {
    setProgress(undefined);
    if (notedEnd.trim() === checkedEnd) void query.refetch();
    else setCheckedEnd(notedEnd.trim());
  };
  return (
    <Dialog
      title="Integrity of the event log"
      onClose={onClose}
      isWide
      onSubmit={(event) => {
        event.preventDefault();
        if (!isMalformed) check();
      }}
      footer={
        <Button type="submit" isPending={query.isFetching} isDisabled={isMalformed}>
          Check again
        </Button>
      }
    >
      <div className={layout['stack']}>
        <p>
          Each event has a hash of its content and of the hash before it. Who alters, removes or inserts an event must
          change every later hash as well.
        </p>
        {query.isFetching &&
          (progress === undefined ? (
            <Loading />
          ) : (
            <p role="status">
              {formatCount(progress.checkedTo, 'event')} of {formatCount(progress.to, 'event')} checked…
            </p>
          ))}
        {!query.isFetching && <ErrorNotice error={query.error} />}
        {!query.isFetching && query.data !== undefined && <CheckReport {...query.data} />}
        <TextField
          label="An end that you noted earlier"
          placeholder="1234:0f3a…"
          value={notedEnd}
          onChange={setNotedEnd}
          error={isMalformed ? 'It is the number of an event, a colon and 64 hexadecimal digits.' : undefined}
        />
      </div>
    </Dialog>
  );
}

/** A badge that says whether the newest events are intact, and a button that opens the check of all events. */
export function LogIntegrity() {
  const [isOpen, setOpen] = useState(false);
  const recent = useQuery({
    queryKey: operationKey(VerifyEventLog, 'recent'),
    queryFn: async ({ signal }) => {
      const { events } = await call(SearchEvents, { query: { limit: '1' }, signal });
      const from = Math.max(1, (events[0]?.id ?? 1) - recentEventCount + 1);
      return call(VerifyEventLog, { query: { from }, signal });
    },
    staleTime: 60_000,
    retry: false,
  });
  return (
    <>
      {recent.isPending && (
        <PlaceOfButton isHidden>
          <Badge>✓ The newest 1,000 events intact</Badge>
        </PlaceOfButton>
      )}
      {recent.data?.intact === true && (
        <Badge tone="good">✓ {`The newest ${formatCount(recent.data.checked, 'event')} intact`}</Badge>
      )}
      {recent.data?.intact === false && <Badge tone="danger">The event log was altered</Badge>}
      <Button onPress={() => setOpen(true)}>Integrity</Button>
      {isOpen && <IntegrityDialog onClose={() => setOpen(false)} />}
    </>
  );
}
