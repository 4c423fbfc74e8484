import { type FeatureTypeDescription, ListFeatureTypes, SetFeatureTypeLifetime } from '@bunting/contracts';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { call } from '../../../api/call.ts';
import { operationQuery } from '../../../api/queries-and-mutations.ts';
import { RequestBodyDialog } from '../../../components/forms/request-body-form.tsx';
import { MissingPermissionNotice } from '../../../components/resources/missing-permission-notice.tsx';
import { useMayCall } from '../../../api/use-may-call.ts';
import { ResourceList } from '../../../components/resources/resource-list.tsx';
import { flagTypesMessages as text } from '../../../messages/administration/flag-types.ts';
import { sharedMessages } from '../../../messages/shared.ts';
import { AdminPage } from '../admin-page.tsx';
import { UsingFlagsList } from '../../../components/resources/using-flags-list.tsx';
import layout from '../../../components/layout/layout.module.css';

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
        label={text.title}
        query={types}
        rowKey={({ id }) => id}
        name={({ name }) => name}
        columns={[
          {
            id: 'name',
            title: text.type,
            cell: ({ id, name }) => (
              <>
                <strong>{name}</strong> <span className={layout['small']}>{id}</span>
              </>
            ),
          },
          { id: 'purpose', title: text.purpose, cell: ({ description }) => description },
          {
            id: 'lifetime',
            title: text.lifetime,
            cell: ({ lifetimeDays }) =>
              lifetimeDays === null || lifetimeDays === 0 ? text.forEver : text.days(lifetimeDays),
          },
        ]}
        actions={(row) =>
          mayCall(SetFeatureTypeLifetime)
            ? [{ id: 'edit', label: text.edit, icon: 'edit', run: () => setEdited(row) }]
            : []
        }
        empty={{ title: sharedMessages.common.nothingFound, help: '' }}
      />
      {edited !== undefined && (
        <RequestBodyDialog
          title={text.editTitle(edited.name)}
          submit={sharedMessages.common.save}
          intro={<UsingFlagsList query={{ type: `IS:${edited.id}` }} title={text.using} emptyText={text.none} />}
          operation={SetFeatureTypeLifetime}
          request={{ params: { id: edited.id } }}
          values={{ lifetimeDays: edited.lifetimeDays }}
          readStored={readStoredLifetime(edited.id)}
          fields={[{ name: 'lifetimeDays', label: text.lifetimeField, hint: text.lifetimeHint }]}
          notification={() => text.saved(edited.name)}
          onClose={() => setEdited(undefined)}
        />
      )}
    </AdminPage>
  );
};
