import { type EventLogVerification, SearchEvents, VerifyEventLog } from '@bunting/contracts';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { call } from '../../api/call.ts';
import { Button } from '../../components/buttons/button.tsx';
import { ErrorNotice, Notice } from '../../components/content/notice.tsx';
import { Loading } from '../../components/content/query-result.tsx';
import { Badge } from '../../components/content/badge.tsx';
import { Dialog } from '../../components/dialogs/dialog.tsx';
import { TextField } from '../../components/forms/fields.tsx';
import { CopyableSecret } from '../../components/content/copyable-secret.tsx';
import { eventsMessages } from '../../messages/events.ts';
import layout from '../../components/layout/layout.module.css';

const text = eventsMessages.integrity;
/** Events that are checked whenever the page is opened; the dialog checks all. */
const recentEvents = 1_000;
const knownPattern = /^\d{1,15}:[0-9a-f]{64}$/i;

interface Progress {
  readonly done: number;
  readonly of: number;
}

interface Checked {
  readonly report: EventLogVerification;
  readonly checked: number;
}

/** Verifies the whole log in several calls: each continues where the one before reached its deadline. */
const checkAll = async (
  known: string,
  signal: AbortSignal,
  onProgress: (progress: Progress) => void,
): Promise<Checked> => {
  let checked = 0;
  for (let from: number | undefined; ;) {
    const query = { ...(from === undefined ? {} : { from }), ...(known === '' ? {} : { known }) };
    const report = await call(VerifyEventLog, { query, signal });
    checked += report.checked;
    const isEnd = report.fault !== null || report.checkedTo >= report.to || report.checked === 0;
    if (isEnd) return { report, checked };
    onProgress({ done: report.checkedTo, of: report.to });
    from = report.checkedTo + 1;
  }
};

const Result = ({ report, checked }: Checked) => {
  const { fault, neverArrived, deadLetters, head, checkedTo, to } = report;
  return (
    <>
      {fault !== null && <Notice tone="danger">{text.fault(fault.id, fault.message)}</Notice>}
      {fault === null && checkedTo < to && <Notice tone="warning">{text.incomplete}</Notice>}
      {fault === null && checkedTo >= to && (
        <p role="status">
          <Badge tone="good">✓</Badge> {text.intact(checked)}
        </p>
      )}
      {neverArrived.map(({ service, first, last }) => (
        <Notice key={`${service}-${first}`} tone="warning">
          {text.neverArrived(service, first, last)}
        </Notice>
      ))}
      {deadLetters.length > 0 && <Notice tone="warning">{text.deadLetters(deadLetters.length)}</Notice>}
      <section className={layout['stack']}>
        <h3>{text.head}</h3>
        <p>{text.headHelp}</p>
        <CopyableSecret label={text.head} value={`${head.id}:${head.hash}`} />
      </section>
    </>
  );
};

const IntegrityDialog = ({ onClose }: { readonly onClose: () => void }) => {
  const [known, setKnown] = useState('');
  const [submitted, setSubmitted] = useState('');
  const [progress, setProgress] = useState<Progress | undefined>();
  const isWrong = known.trim() !== '' && !knownPattern.test(known.trim());
  const query = useQuery({
    queryKey: [VerifyEventLog.operationId, 'all', submitted],
    queryFn: ({ signal }) => checkAll(submitted, signal, setProgress),
    staleTime: Infinity,
    gcTime: 0,
    retry: false,
  });
  const check = (): void => {
    setProgress(undefined);
    if (known.trim() === submitted) void query.refetch();
    else setSubmitted(known.trim());
  };
  return (
    <Dialog
      title={text.title}
      onClose={onClose}
      isWide
      onSubmit={(event) => {
        event.preventDefault();
        if (!isWrong) check();
      }}
      footer={
        <Button type="submit" isPending={query.isFetching} isDisabled={isWrong}>
          {text.check}
        </Button>
      }
    >
      <div className={layout['stack']}>
        <p>{text.meaning}</p>
        {query.isFetching &&
          (progress === undefined ? <Loading /> : <p role="status">{text.progress(progress.done, progress.of)}</p>)}
        {!query.isFetching && query.error !== null && <ErrorNotice error={query.error} />}
        {!query.isFetching && query.data !== undefined && <Result {...query.data} />}
        <TextField
          label={text.known}
          placeholder="1234:0f3a…"
          value={known}
          onChange={setKnown}
          error={isWrong ? text.knownWrong : undefined}
        />
      </div>
    </Dialog>
  );
};

/** Whether the newest events are what they were when they were recorded, and the check of all. */
export const LogIntegrity = () => {
  const [isOpen, setOpen] = useState(false);
  const recent = useQuery({
    queryKey: [VerifyEventLog.operationId, 'recent'],
    queryFn: async ({ signal }) => {
      const { events } = await call(SearchEvents, { query: { limit: '1' }, signal });
      const from = Math.max(1, (events[0]?.id ?? 1) - recentEvents + 1);
      return call(VerifyEventLog, { query: { from }, signal });
    },
    staleTime: 60_000,
    retry: false,
  });
  return (
    <>
      {recent.data?.intact === true && <Badge tone="good">✓ {text.recent(recent.data.checked)}</Badge>}
      {recent.data?.intact === false && <Badge tone="danger">{text.recentFault}</Badge>}
      <Button onPress={() => setOpen(true)}>{text.button}</Button>
      {isOpen && <IntegrityDialog onClose={() => setOpen(false)} />}
    </>
  );
};
