import {
  CreateSignalEndpoint,
  CreateSignalEndpointToken,
  DeleteSignalEndpoint,
  DeleteSignalEndpointToken,
  DisableSignalEndpoint,
  EnableSignalEndpoint,
  ListSignalEndpoints,
  ListSignals,
  type SignalEndpoint,
  type SignalEndpointToken,
  UpdateSignalEndpoint,
} from '@bunting/contracts';
import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { call } from '../../../api/call.ts';
import { operationQuery, useOperationMutation } from '../../../api/queries-and-mutations.ts';
import { Button } from '../../../components/buttons/button.tsx';
import { Badge } from '../../../components/content/badge.tsx';
import { CopyableSecret } from '../../../components/content/copyable-secret.tsx';
import { EmptyState, QueryResult } from '../../../components/content/query-result.tsx';
import { Table } from '../../../components/content/table.tsx';
import { Time } from '../../../components/content/time.tsx';
import { ConfirmOperationDialog } from '../../../components/dialogs/confirm-operation-dialog.tsx';
import { CreateSecretDialog } from '../../../components/dialogs/create-secret-dialog.tsx';
import { BoundTextField } from '../../../components/forms/bound-fields.tsx';
import type { RequestBodyField } from '../../../components/forms/request-body-form.tsx';
import layout from '../../../components/layout/layout.module.css';
import { notify } from '../../../shell/toasts.tsx';
import { formatCount } from '../../../text/format-number.ts';
import { AdminCatalogue, AdminPage } from '../admin-page.tsx';
import { usePublicUrl } from '../public-url.ts';
import { SignalPayload } from './signal-payload.tsx';
import { isolated } from '../../../text/isolated.ts';

const fields: readonly RequestBodyField[] = [
  { name: 'name', label: 'Name', hint: 'It is the end of the address' },
  { name: 'description', label: 'Description', rows: 2 },
  { name: 'enabled', label: 'Accept signals' },
];

function bodyOf({ name, description, enabled }: SignalEndpoint) {
  return { name, description, enabled };
}

function useSwitch(operation: typeof EnableSignalEndpoint | typeof DisableSignalEndpoint, said: string) {
  return useOperationMutation(operation, 'notified', () => notify(said));
}

function Endpoints() {
  const query = useQuery({
    ...operationQuery(ListSignalEndpoints, {}),
    select: ({ signalEndpoints }) => signalEndpoints,
  });
  const enable = useSwitch(EnableSignalEndpoint, 'The endpoint accepts signals.');
  const disable = useSwitch(DisableSignalEndpoint, 'The endpoint refuses signals.');
  return (
    <AdminCatalogue
      id="signals"
      noun="signal endpoint"
      label="Signal endpoints"
      query={query}
      rowKey={({ id }) => id}
      name={({ name }) => name}
      text={({ description }) => description}
      columns={[
        {
          title: 'Name',
          cell: ({ id, name }) => (
            <Link to="/admin/$section/$item" params={{ section: 'signals', item: String(id) }}>
              <bdi>{name}</bdi>
            </Link>
          ),
        },
        { title: 'Description', cell: ({ description }) => description },
        { title: 'State', cell: ({ enabled }) => (enabled ? <Badge tone="good">On</Badge> : <Badge>Off</Badge>) },
        { title: 'Tokens', isNumber: true, cell: ({ tokens }) => tokens.length },
      ]}
      create={{ operation: CreateSignalEndpoint, fields, values: { name: '', description: '', enabled: true } }}
      edit={{
        operation: UpdateSignalEndpoint,
        fields,
        request: ({ id }) => ({ params: { id } }),
        values: bodyOf,
        stored: async (endpoint) => {
          const { signalEndpoints } = await call(ListSignalEndpoints, {});
          return bodyOf(signalEndpoints.find(({ id }) => id === endpoint.id) ?? endpoint);
        },
      }}
      actions={[
        {
          id: 'on',
          label: 'Turn on',
          operation: EnableSignalEndpoint,
          isOffered: ({ enabled }) => !enabled,
          run: ({ id }) => enable.mutate({ params: { id } }),
        },
        {
          id: 'off',
          label: 'Turn off',
          operation: DisableSignalEndpoint,
          isOffered: ({ enabled }) => enabled,
          run: ({ id }) => disable.mutate({ params: { id } }),
        },
      ]}
      remove={{
        operation: DeleteSignalEndpoint,
        request: ({ id }) => ({ params: { id } }),
        usage: ({ tokens }) => (
          <p>
            {formatCount(tokens.length, 'token')} of it and all signals that it has received go with it. While actions
            listen to it, it cannot be deleted.
          </p>
        ),
      }}
      empty={{
        title: 'No other system tells Bunting anything yet',
        help: 'Alertmanager, Grafana or any program sends signals to an endpoint. The actions of a project then switch flags, or propose it.',
      }}
    />
  );
}

function Tokens({ endpoint }: { readonly endpoint: SignalEndpoint }) {
  const { id: signalEndpointId, name, tokens } = endpoint;
  const { base } = usePublicUrl();
  const [opened, setOpened] = useState<'create' | SignalEndpointToken>();
  const close = (): void => setOpened(undefined);
  const curl = (token: string): string =>
    `curl -X POST ${base}/api/signal-endpoint/${name} -H 'Authorization: Bearer ${token}' -H 'Content-Type: application/json' -d '{"status":"firing"}'`;
  return (
    <section className={layout['stack']} aria-labelledby="tokens">
      <div className={layout['bar']}>
        <h2 id="tokens">Tokens</h2>
        <Button icon="add" onPress={() => setOpened('create')}>
          Create a token
        </Button>
      </div>
      {tokens.length === 0 ? (
        <p className={layout['muted']}>Without a token nobody can send signals here.</p>
      ) : (
        <Table
          label="Tokens"
          rows={tokens}
          rowKey={({ id }) => id}
          columns={[
            { title: 'Name', cell: (token) => <bdi>{token.name}</bdi> },
            { title: 'Created', cell: ({ createdAt }) => <Time at={createdAt} /> },
            {
              title: 'Actions',
              isTitleHidden: true,
              cell: (token) => (
                <Button size="small" aria-label={`Delete the token ${token.name}`} onPress={() => setOpened(token)}>
                  Delete
                </Button>
              ),
            },
          ]}
        />
      )}
      <p>How a signal is sent:</p>
      <CopyableSecret label="Example of a call" value={curl('<token>')} />
      {opened === 'create' && (
        <CreateSecretDialog
          title="Create a token"
          submit="Create"
          operation={CreateSignalEndpointToken}
          request={(values) => ({ params: { signalEndpointId }, body: { name: String(values['name']) } })}
          values={{ name: '' }}
          secret={({ token }) => ({
            title: 'The new token',
            label: 'Token',
            value: token,
            help: 'Copy it now: it is not shown again.',
            footnote: <CopyableSecret label="Call with the token" value={curl(token)} />,
          })}
          onClose={close}
        >
          {(control) => (
            <BoundTextField
              control={control}
              name="name"
              label="Name"
              hint="Who sends signals with it, such as alertmanager-prod"
              required="Enter a name."
              autoFocus
            />
          )}
        </CreateSecretDialog>
      )}
      {opened !== undefined && opened !== 'create' && (
        <ConfirmOperationDialog
          title={`Delete the token “${isolated(opened.name)}”`}
          confirm="Delete"
          isDangerous
          operation={DeleteSignalEndpointToken}
          request={{ params: { signalEndpointId, id: opened.id } }}
          notification={`The token ${isolated(opened.name)} is deleted.`}
          onClose={close}
        >
          <p>Who sends signals with it is refused from now on.</p>
        </ConfirmOperationDialog>
      )}
    </section>
  );
}

function ReceivedSignals({ id }: { readonly id: number }) {
  const signals = useQuery({
    ...operationQuery(ListSignals, { params: { signalEndpointId: id }, query: { limit: 50 } }),
    refetchInterval: 5_000,
  });
  return (
    <section className={layout['stack']} aria-labelledby="received">
      <h2 id="received">Received</h2>
      <QueryResult query={signals}>
        {({ signalEndpointSignals }) =>
          signalEndpointSignals.length === 0 ? (
            <EmptyState title="Nothing was received yet">Signals appear here as they come.</EmptyState>
          ) : (
            <Table
              label="Signals"
              rows={signalEndpointSignals}
              rowKey={(signal) => signal.id}
              columns={[
                { title: 'Signal', cell: (signal) => `#${signal.id}` },
                { title: 'When', cell: ({ createdAt }) => <Time at={createdAt} /> },
                { title: 'Token', cell: ({ tokenName }) => <bdi>{tokenName}</bdi> },
                { title: 'Content', cell: ({ payload }) => <SignalPayload payload={payload} /> },
              ]}
            />
          )
        }
      </QueryResult>
    </section>
  );
}

function Endpoint({ id }: { readonly id: number }) {
  const query = useQuery({
    ...operationQuery(ListSignalEndpoints, {}),
    select: ({ signalEndpoints }) => signalEndpoints.find((one) => one.id === id) ?? null,
  });
  return (
    <AdminPage id="signals" title={query.data?.name ?? `Signal endpoint ${id}`}>
      <QueryResult query={query}>
        {(endpoint) =>
          endpoint === null ? (
            <EmptyState title="There is no such signal endpoint">It may have been deleted.</EmptyState>
          ) : (
            <div className={layout['stack']}>
              {!endpoint.enabled && <p>The endpoint is off: it refuses signals.</p>}
              <Tokens endpoint={endpoint} />
              <ReceivedSignals id={id} />
            </div>
          )
        }
      </QueryResult>
    </AdminPage>
  );
}

/** The endpoints of signals, and with an item in the path, the tokens of one and what it has received. */
export function SignalsPage() {
  const { item } = useParams({ strict: false }) as { readonly item?: string };
  return item === undefined ? <Endpoints /> : <Endpoint key={item} id={Number(item)} />;
}
