import { type FeatureTypeDescription, ListFeatureTypes, SetFeatureTypeLifetime } from '@bunting/contracts';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { call } from '../../../api/call.ts';
import { operationQuery } from '../../../api/queries-and-mutations.ts';
import { RequestBodyDialog } from '../../../components/forms/request-body-form.tsx';
import { MissingPermissionNotice } from '../../../components/resources/missing-permission-notice.tsx';
import { useMayCall } from '../../../api/use-may-call.ts';
import { ResourceList } from '../../../components/resources/resource-list.tsx';
import { AdminPage } from '../admin-page.tsx';
import { UsingFlagsList } from '../../../components/resources/using-flags-list.tsx';
import layout from '../../../components/layout/layout.module.css';
import { formatCount } from '../../../text/format-number.ts';

const readStoredLifetime = (id: string) => async () => {
  const value = await call(ListFeatureTypes, {});
  return { value: { lifetimeDays: value.types.find((type) => type.id === id)?.lifetimeDays ?? null } };
};

/** How long flags of each type are expected to live. */
export const FlagTypesPage = () => {
  const types = useQuery({ ...operationQuery(ListFeatureTypes, {}), select: ({ types: rows }) => rows });
  const mayCall = useMayCall();
  const [edited, setEdited] = useState<FeatureTypeDescription>();
  return (
    <AdminPage id="types">
      <MissingPermissionNotice operation={SetFeatureTypeLifetime} />
      <ResourceList
        label="Flag types"
        query={types}
        rowKey={({ id }) => id}
        name={({ name }) => name}
        columns={[
          {
            id: 'name',
            title: 'Type',
            cell: ({ id, name }) => (
              <>
                <strong>{name}</strong> <span className={layout['small']}>{id}</span>
              </>
            ),
          },
          { id: 'purpose', title: 'When to use it', cell: ({ description }) => description },
          {
            id: 'lifetime',
            title: 'Expected to live',
            cell: ({ lifetimeDays }) =>
              lifetimeDays === null || lifetimeDays === 0 ? 'for ever' : formatCount(lifetimeDays, 'day'),
          },
        ]}
        actions={(row) =>
          mayCall(SetFeatureTypeLifetime)
            ? [{ id: 'edit', label: 'Set the lifetime', icon: 'edit', run: () => setEdited(row) }]
            : []
        }
        empty={{ title: 'Nothing matches.', help: '' }}
      />
      {edited !== undefined && (
        <RequestBodyDialog
          title={`How long flags of the type “${edited.name}” live`}
          submit="Save"
          intro={
            <UsingFlagsList
              query={{ type: `IS:${edited.id}` }}
              title={(n) => `${formatCount(n, 'flag')} of this type that you can see`}
              emptyText="No flag of this type that you can see."
            />
          }
          operation={SetFeatureTypeLifetime}
          request={{ params: { id: edited.id } }}
          values={{ lifetimeDays: edited.lifetimeDays }}
          readStored={readStoredLifetime(edited.id)}
          fields={[
            {
              name: 'lifetimeDays',
              label: 'Days',
              hint: 'Older flags are marked as potentially stale. Leave it empty for flags that live for ever.',
            },
          ]}
          notification={() => `The lifetime of ${edited.name} is saved.`}
          onClose={() => setEdited(undefined)}
        />
      )}
    </AdminPage>
  );
};
