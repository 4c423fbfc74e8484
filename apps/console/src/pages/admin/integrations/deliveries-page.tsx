import {
  type Addon,
  type Event,
  GetAddon,
  GetDeliveryStatus,
  ListIntegrationEvents,
  RedeliverEvent,
  ReplayEvents,
  type ReplyOf,
  TestAddon,
} from '@bunting/contracts';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useMayCall } from '../../../api/permissions.ts';
import { operationQuery, useOperationMutation } from '../../../api/queries-and-mutations.ts';
import { Button } from '../../../components/buttons/button.tsx';
import { Badge } from '../../../components/content/badge.tsx';
import { EventSummary } from '../../../components/content/event-summary.tsx';
import { ErrorNotice, Notice } from '../../../components/content/notice.tsx';
import { EmptyState, QueryResult } from '../../../components/content/query-result.tsx';
import { Table } from '../../../components/content/table.tsx';
import { Time } from '../../../components/content/time.tsx';
import { Dialog } from '../../../components/dialogs/dialog.tsx';
import { TextField } from '../../../components/forms/fields.tsx';
import layout from '../../../components/layout/layout.module.css';
import { MissingPermissionNotice } from '../../../components/resources/missing-permission-notice.tsx';
import { notify } from '../../../shell/toasts.tsx';
import { formatCount } from '../../../text/format-number.ts';
import { adminCrumbs, AdminPage } from '../admin-page.tsx';
import { nameOf } from './integration-name.ts';

type Attempt = ReplyOf<typeof ListIntegrationEvents>['integrationEvents'][number];

const states = {
  success: ['good', 'Delivered'],
  successWithErrors: ['warning', 'Delivered in part'],
  failed: ['danger', 'Failed'],
} as const;

function StateBadge({ state, details }: Attempt) {
  const [tone, label] = states[state];
  return <Badge tone={tone}>{details['deadLetter'] === true ? 'Dead letter' : label}</Badge>;
}

/** Sends a test event, and shows the request and the response. */
function TestDialog({ id, onClose }: { readonly id: number; readonly onClose: () => void }) {
  const test = useOperationMutation(TestAddon, 'handled');
  const { data } = test;
  return (
    <Dialog
      title="Send a test event"
      isWide
      onClose={onClose}
      footer={
        <>
          <Button onPress={onClose}>Close</Button>
          <Button variant="primary" isPending={test.isPending} onPress={() => test.mutate({ params: { id } })}>
            {data === undefined ? 'Send' : 'Send again'}
          </Button>
        </>
      }
    >
      <p>An event that has not happened is sent once. It is neither recorded nor repeated.</p>
      <ErrorNotice error={test.error} />
      {data !== undefined && (
        <>
          {data.error === null ? (
            <Notice>The destination has accepted it{data.response === null ? '' : `: ${data.response.status}`}.</Notice>
          ) : (
            <Notice tone="danger">{data.error}</Notice>
          )}
          <TextField
            label="Request"
            isReadOnly
            rows={12}
            value={[
              `${data.request.method} ${data.request.url}`,
              ...Object.entries(data.request.headers).map(([name, value]) => `${name}: ${String(value)}`),
              '',
              data.request.body,
            ].join('\n')}
            onChange={() => undefined}
          />
          {data.response !== null && (
            <TextField
              label="Response"
              isReadOnly
              rows={4}
              value={`${data.response.status}\n${data.response.body}`}
              onChange={() => undefined}
            />
          )}
        </>
      )}
    </Dialog>
  );
}

/** Delivers events again from an id or a time on. */
function ReplayDialog({ id, onClose }: { readonly id: number; readonly onClose: () => void }) {
  const [after, setAfter] = useState('');
  const [since, setSince] = useState('');
  const replay = useOperationMutation(ReplayEvents, 'handled', ({ after: from }) => {
    notify(`Everything after event ${from} is delivered again.`);
    onClose();
  });
  const start = (event: React.FormEvent): void => {
    event.preventDefault();
    replay.mutate({
      params: { id },
      body: after === '' ? { since: since === '' ? '' : new Date(since).toISOString() } : { after: Number(after) },
    });
  };
  return (
    <Dialog
      title="Deliver events again"
      onClose={onClose}
      onSubmit={start}
      footer={
        <>
          <Button onPress={onClose}>Cancel</Button>
          <Button
            type="submit"
            variant="primary"
            isPending={replay.isPending}
            isDisabled={after === '' && since === ''}
          >
            Deliver again
          </Button>
        </>
      }
    >
      <p>Every event that the integration selects is sent again, with the id that it had before, in its order.</p>
      <TextField label="From this time on" type="datetime-local" value={since} onChange={setSince} autoFocus />
      <TextField
        label="Or after the event with this id"
        hint="As the event log shows it; 0 is the beginning of the log"
        type="number"
        value={after}
        onChange={setAfter}
      />
      <ErrorNotice error={replay.error} />
    </Dialog>
  );
}

function Status({ id }: { readonly id: number }) {
  const query = useQuery({ ...operationQuery(GetDeliveryStatus, { params: { id } }), refetchInterval: 5_000 });
  if (query.data === undefined) return null;
  const { position, head, waiting, deadLetters, nextAttemptAt, pausedUntil, disabledReason } = query.data;
  return (
    <>
      {disabledReason !== null && <Notice tone="warning">{disabledReason}</Notice>}
      {pausedUntil !== null && (
        <Notice tone="warning">
          The destination has failed several times in a row, or asks to wait. Nothing is sent until{' '}
          <Time at={pausedUntil} isAbsolute />.
        </Notice>
      )}
      <p>
        {position >= head ? 'Up to date' : `At event ${position} of ${head}`}, {formatCount(waiting, 'event')} waiting
        {nextAttemptAt !== null && (
          <>
            {' '}
            (next attempt <Time at={nextAttemptAt} isAbsolute />)
          </>
        )}
        , {formatCount(deadLetters, 'dead letter')}
      </p>
    </>
  );
}

function Deliveries({ integration }: { readonly integration: Addon }) {
  const { id } = integration;
  const mayCall = useMayCall();
  const mayRead = mayCall(ListIntegrationEvents);
  const attempts = useQuery({
    ...operationQuery(ListIntegrationEvents, { params: { id }, query: { limit: '100' } }),
    enabled: mayRead,
    refetchInterval: 5_000,
  });
  const redeliver = useOperationMutation(RedeliverEvent, 'notified', () => notify('The event is sent again.'));
  const [opened, setOpened] = useState<'test' | 'replay'>();
  const close = (): void => setOpened(undefined);
  return (
    <AdminPage
      id="integrations"
      title={nameOf(integration)}
      actions={
        mayRead && (
          <>
            <Button onPress={() => setOpened('replay')}>Deliver again…</Button>
            <Button variant="primary" onPress={() => setOpened('test')}>
              Send a test event
            </Button>
          </>
        )
      }
    >
      <MissingPermissionNotice operation={ListIntegrationEvents} />
      {!integration.enabled && <Notice>The integration is off: nothing is sent.</Notice>}
      {mayRead && (
        <>
          <Status id={id} />
          <QueryResult query={attempts}>
            {({ integrationEvents }) =>
              integrationEvents.length === 0 ? (
                <EmptyState title="Nothing was sent yet">Events that the integration selects appear here.</EmptyState>
              ) : (
                <Table
                  label="Deliveries"
                  rows={integrationEvents}
                  rowKey={(attempt) => attempt.id}
                  columns={[
                    {
                      title: 'Event',
                      cell: ({ event }) => (
                        <EventSummary text={(event as Event).summary ?? (event as Event).type} by={event as Event} />
                      ),
                    },
                    { title: 'State', cell: StateBadge },
                    {
                      title: 'What happened',
                      cell: ({ stateDetails }) => <span className={layout['muted']}>{stateDetails}</span>,
                    },
                    { title: 'When', cell: ({ createdAt }) => <Time at={createdAt} /> },
                    {
                      title: 'Again',
                      cell: (attempt) => (
                        <Button
                          size="small"
                          aria-label={`Send again: event ${String((attempt.event as Event).id)}`}
                          onPress={() => redeliver.mutate({ params: { id, eventId: Number(attempt.id) } })}
                        >
                          Send again
                        </Button>
                      ),
                    },
                  ]}
                />
              )
            }
          </QueryResult>
        </>
      )}
      {opened === 'test' && <TestDialog id={id} onClose={close} />}
      {opened === 'replay' && <ReplayDialog id={id} onClose={close} />}
    </AdminPage>
  );
}

/** What became of the events of an integration, with what sends them again. */
export function DeliveriesPage({ item }: { readonly item: string }) {
  const addon = useQuery(operationQuery(GetAddon, { params: { id: Number(item) } }));
  return (
    <QueryResult query={addon} page="integration" crumbs={adminCrumbs('integrations', true)}>
      {(integration) => <Deliveries integration={integration} />}
    </QueryResult>
  );
}
