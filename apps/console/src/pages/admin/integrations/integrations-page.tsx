import { type Addon, CreateAddon, DeleteAddon, ListAddons, takesReviews, UpdateAddon } from '@bunting/contracts';
import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { Fragment } from 'react';
import { usePermissionCheck } from '../../../api/permissions.ts';
import { operationQuery } from '../../../api/queries-and-mutations.ts';
import { Badge } from '../../../components/content/badge.tsx';
import { ProjectNames } from '../../../components/content/project-name.tsx';
import { EnvironmentName } from '../../../components/environments/environment-name.tsx';
import { formatCount } from '../../../text/format-number.ts';
import { AdminCatalogue } from '../admin-page.tsx';
import { DeliveriesPage } from './deliveries-page.tsx';
import { IntegrationDialog } from './integration-dialog.tsx';
import { nameOf } from './integration-name.ts';

function isAll(names: readonly string[]): boolean {
  return names.length === 0 || names.includes('*');
}

function Integrations() {
  const query = useQuery(operationQuery(ListAddons, {}));
  const providers = query.data?.providers ?? [];
  const isAdministrator = usePermissionCheck()('ADMIN');
  const eventsOf = ({ provider }: Addon) => providers.find(({ name }) => name === provider)?.events ?? [];
  const labelOf = (name: string): string => providers.find((one) => one.name === name)?.displayName ?? name;
  return (
    <AdminCatalogue
      id="integrations"
      noun="integration"
      label="Integrations"
      query={{ ...query, data: query.data?.addons }}
      rowKey={({ id }) => id}
      name={nameOf}
      text={({ provider, events, projects, environments }) =>
        [provider, labelOf(provider), ...events, ...projects, ...environments].join(' ')
      }
      columns={[
        {
          title: 'Integration',
          cell: (addon) => (
            <Link to="/admin/$section/$item" params={{ section: 'integrations', item: String(addon.id) }}>
              <bdi>{nameOf(addon)}</bdi>
            </Link>
          ),
        },
        { title: 'Kind', cell: ({ provider }) => labelOf(provider) },
        { title: 'State', cell: ({ enabled }) => (enabled ? <Badge tone="good">On</Badge> : <Badge>Off</Badge>) },
        { title: 'Events', cell: ({ events }) => formatCount(events.length, 'type') },
        {
          title: 'Projects',
          cell: ({ projects }) => (isAll(projects) ? 'all projects' : <ProjectNames ids={projects} />),
        },
        {
          title: 'Environments',
          cell: ({ environments }) =>
            isAll(environments)
              ? 'all environments'
              : environments.map((name, nth) => (
                  <Fragment key={name}>
                    {nth > 0 && ', '}
                    <EnvironmentName name={name} />
                  </Fragment>
                )),
        },
      ]}
      create={{
        operation: CreateAddon,
        dialog: (onClose) => <IntegrationDialog providers={providers} onClose={onClose} />,
      }}
      actions={[
        {
          id: 'edit',
          label: 'Edit',
          icon: 'edit',
          operation: UpdateAddon,
          // Some events are offered to nobody, and all together to administrators alone.
          isOffered: (addon) =>
            isAdministrator ||
            !(takesReviews(addon) || addon.events.some((type) => type === '*' || !eventsOf(addon).includes(type))),
          dialog: (addon, onClose) => <IntegrationDialog providers={providers} addon={addon} onClose={onClose} />,
        },
      ]}
      remove={{
        operation: DeleteAddon,
        request: ({ id }) => ({ params: { id } }),
        usage: () => <p>What waits for it is not delivered any more. The event log keeps all events.</p>,
      }}
      empty={{
        title: 'Nobody is told of events yet',
        help: 'An integration sends events to a webhook, a channel of Slack, Mattermost or Microsoft Teams, an address of mail, Datadog or New Relic, or keeps the log in a collector, a syslog server or a bucket.',
      }}
    />
  );
}

/** Where events are sent, and with an item in the path, what became of the events of one of them. */
export function IntegrationsPage() {
  const { item } = useParams({ strict: false }) as { readonly item?: string };
  return item === undefined ? <Integrations /> : <DeliveriesPage key={item} item={item} />;
}
