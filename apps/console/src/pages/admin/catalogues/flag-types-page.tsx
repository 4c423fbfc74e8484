import { ListFeatureTypes, SetFeatureTypeLifetime } from '@bunting/contracts';
import { useQuery } from '@tanstack/react-query';
import { call } from '../../../api/call.ts';
import { operationQuery } from '../../../api/queries-and-mutations.ts';
import { AdminCatalogue } from '../admin-page.tsx';
import { UsingFlagsList } from '../../../components/resources/usage-list.tsx';
import layout from '../../../components/layout/layout.module.css';
import { formatCount } from '../../../text/format-number.ts';

/** How long flags of each type are expected to live. */
export function FlagTypesPage() {
  return (
    <AdminCatalogue
      id="types"
      noun="flag type"
      label="Flag types"
      query={useQuery({ ...operationQuery(ListFeatureTypes, {}), select: ({ types }) => types })}
      rowKey={({ id }) => id}
      name={({ name }) => name}
      columns={[
        {
          title: 'Type',
          cell: ({ id, name }) => (
            <>
              <strong>{name}</strong> <span className={layout['small']}>{id}</span>
            </>
          ),
        },
        { title: 'When to use it', cell: ({ description }) => description },
        {
          title: 'Expected to live',
          cell: ({ lifetimeDays }) =>
            lifetimeDays === null || lifetimeDays === 0 ? 'for ever' : formatCount(lifetimeDays, 'day'),
        },
      ]}
      edit={{
        operation: SetFeatureTypeLifetime,
        label: 'Set the lifetime',
        title: (name) => `How long flags of the type “${name}” live`,
        notification: (name) => `The lifetime of ${name} is saved.`,
        fields: [
          {
            name: 'lifetimeDays',
            label: 'Days',
            hint: 'Older flags are marked as potentially stale. Leave it empty for flags that live for ever.',
          },
        ],
        request: ({ id }) => ({ params: { id } }),
        values: ({ lifetimeDays }) => ({ lifetimeDays }),
        stored: async ({ id }) => {
          const { types } = await call(ListFeatureTypes, {});
          return { lifetimeDays: types.find((type) => type.id === id)?.lifetimeDays ?? null };
        },
        intro: ({ id }) => (
          <UsingFlagsList
            query={{ type: `IS:${id}` }}
            title={(n) => `${formatCount(n, 'flag')} of this type that you can see`}
            emptyText="No flag of this type that you can see."
          />
        ),
      }}
      empty={{ title: 'Nothing matches.', help: '' }}
    />
  );
}
