import { DeleteFeatures, ListArchivedFeaturesOfProject, type ProjectFeature, ReviveFeatures } from '@bunting/contracts';
import { useMutation, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { ApiError } from '../../../api/api-error.ts';
import { call } from '../../../api/call.ts';
import { operationQuery } from '../../../api/queries-and-mutations.ts';
import { ConfirmOperationDialog } from '../../../components/dialogs/confirm-operation-dialog.tsx';
import { Button } from '../../../components/buttons/button.tsx';
import { ErrorNotice } from '../../../components/content/notice.tsx';
import { ConfirmDialog } from '../../../components/dialogs/dialog.tsx';
import { MissingPermissionNotice } from '../../../components/resources/missing-permission-notice.tsx';
import { useMayCall } from '../../../api/permissions.ts';
import { ResourceList } from '../../../components/resources/resource-list.tsx';
import { Time } from '../../../components/content/time.tsx';
import { notify } from '../../../shell/toasts.tsx';
import layout from '../../../components/layout/layout.module.css';
import { formatCount } from '../../../text/format-number.ts';

/** The maximum number of flags in one call, which revives all of them or none. */
const flagsPerCall = 100;

interface ReviveAllProps {
  readonly project: string;
  readonly names: readonly string[];
  readonly onClose: () => void;
}

/** Revives several flags, after the user has confirmed their number. After a refused call, a retry continues with the remaining flags. */
function ReviveAllDialog({ project, names, onClose }: ReviveAllProps) {
  const [features] = useState(names);
  const [revivedCount, setRevivedCount] = useState(0);
  const revive = useMutation<void, ApiError>({
    mutationFn: async () => {
      for (let start = revivedCount; start < features.length; start += flagsPerCall) {
        const batch = features.slice(start, start + flagsPerCall);
        await call(ReviveFeatures, { params: { projectId: project }, body: { features: batch } });
        setRevivedCount(start + batch.length);
      }
    },
    onSuccess: () => {
      notify(`${formatCount(features.length, 'flag')} ${features.length === 1 ? 'is' : 'are'} back.`);
      onClose();
    },
  });
  return (
    <ConfirmDialog
      title={`Revive ${formatCount(features.length - revivedCount, 'flag')}`}
      confirm="Revive"
      isPending={revive.isPending}
      onConfirm={() => revive.mutate()}
      onClose={onClose}
    >
      <p>It comes back as it was, and is off in every environment.</p>
      <ErrorNotice error={revive.error} />
    </ConfirmDialog>
  );
}

/** The archived flags of a project, which can be revived or deleted for good. */
export function ArchiveTab({ project }: { readonly project: string }) {
  const archived = useQuery({
    ...operationQuery(ListArchivedFeaturesOfProject, { params: { projectId: project } }),
    select: ({ features }) => features,
  });
  const mayCall = useMayCall();
  const [dialog, setDialog] = useState<{
    readonly action: 'revive' | 'delete';
    readonly features: readonly ProjectFeature[];
  }>();
  const params = { projectId: project };
  const names = (dialog?.features ?? []).map(({ name }) => name);
  const [firstName = ''] = names;
  const request = { params, body: { features: names } };
  return (
    <div className={layout['stack']}>
      {!mayCall(DeleteFeatures, { project }) && (
        <MissingPermissionNotice operation={ReviveFeatures} scope={{ project }} />
      )}
      <ResourceList
        label="Archive"
        query={archived}
        renderAbove={(found) =>
          found.length > 1 &&
          mayCall(ReviveFeatures, { project }) && (
            <div>
              <Button onPress={() => setDialog({ action: 'revive', features: found })}>Revive all</Button>
            </div>
          )
        }
        rowKey={({ name }) => name}
        name={({ name }) => name}
        text={({ description }) => description ?? ''}
        columns={[
          {
            title: 'Name',
            cell: ({ name }) => (
              <Link to="/projects/$project/features/$feature" params={{ project, feature: name }}>
                {name}
              </Link>
            ),
          },
          { title: 'Type', cell: ({ type }) => type },
          { title: 'Archived', cell: ({ archivedAt }) => <Time at={archivedAt} /> },
        ]}
        actions={(feature) => [
          ...(mayCall(ReviveFeatures, { project })
            ? [
                {
                  id: 'revive',
                  label: 'Revive',
                  run: () => setDialog({ action: 'revive', features: [feature] }),
                },
              ]
            : []),
          ...(mayCall(DeleteFeatures, { project })
            ? [
                {
                  id: 'delete',
                  label: 'Delete for good',
                  icon: 'remove' as const,
                  run: () => setDialog({ action: 'delete', features: [feature] }),
                },
              ]
            : []),
        ]}
        empty={{
          title: 'The archive is empty',
          help: 'Flags that are archived are listed here. They can be revived, or deleted for good.',
        }}
      />
      {dialog?.action === 'revive' && names.length > 1 && (
        <ReviveAllDialog project={project} names={names} onClose={() => setDialog(undefined)} />
      )}
      {dialog?.action === 'revive' && names.length === 1 && (
        <ConfirmOperationDialog
          title={`Revive the flag “${firstName}”`}
          confirm="Revive"
          operation={ReviveFeatures}
          request={request}
          notification={`The flag ${firstName} is back.`}
          onClose={() => setDialog(undefined)}
        >
          <p>It comes back as it was, and is off in every environment.</p>
        </ConfirmOperationDialog>
      )}
      {dialog?.action === 'delete' && (
        <ConfirmOperationDialog
          title={`Delete the flag “${firstName}” for good`}
          confirm="Delete for good"
          isDangerous
          typedName={firstName}
          operation={DeleteFeatures}
          request={request}
          notification={`The flag ${firstName} is deleted.`}
          onClose={() => setDialog(undefined)}
        >
          <p>Its strategies, variants and numbers of use go with it. Its events stay in the event log.</p>
        </ConfirmOperationDialog>
      )}
    </div>
  );
}
