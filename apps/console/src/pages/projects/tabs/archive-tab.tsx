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
import { useMayCall } from '../../../api/use-may-call.ts';
import { ResourceList } from '../../../components/resources/resource-list.tsx';
import { Time } from '../../../components/content/time.tsx';
import { projectsMessages as text } from '../../../messages/projects.ts';
import { notify } from '../../../shell/toasts.tsx';
import layout from '../../../components/layout/layout.module.css';

/** The maximum number of flags in one call, which revives all of them or none. */
const flagsPerCall = 100;

interface ReviveAllProps {
  readonly project: string;
  readonly names: readonly string[];
  readonly onClose: () => void;
}

/** Revives several flags, after the user has confirmed their number. After a refused call, a retry continues with the remaining flags. */
const ReviveAllDialog = ({ project, names, onClose }: ReviveAllProps) => {
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
      notify(text.allRevived(features.length));
      onClose();
    },
  });
  return (
    <ConfirmDialog
      title={text.reviveAllTitle(features.length - revivedCount)}
      confirm={text.reviveFlag}
      isPending={revive.isPending}
      onConfirm={() => revive.mutate()}
      onClose={onClose}
    >
      <p>{text.reviveFlagHelp}</p>
      {revive.error !== null && <ErrorNotice error={revive.error} />}
    </ConfirmDialog>
  );
};

/** The archived flags of a project, which can be revived or deleted for good. */
export const ArchiveTab = ({ project }: { readonly project: string }) => {
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
      <MissingPermissionNotice operation={ReviveFeatures} scope={{ project }} />
      <ResourceList
        label={text.tabs.archive}
        query={archived}
        renderAbove={(found) =>
          found.length > 1 &&
          mayCall(ReviveFeatures, { project }) && (
            <div>
              <Button onPress={() => setDialog({ action: 'revive', features: found })}>{text.reviveAll}</Button>
            </div>
          )
        }
        rowKey={({ name }) => name}
        name={({ name }) => name}
        text={({ description }) => description ?? ''}
        columns={[
          {
            id: 'name',
            title: text.name,
            cell: ({ name }) => (
              <Link to="/projects/$project/features/$feature" params={{ project, feature: name }}>
                {name}
              </Link>
            ),
          },
          { id: 'type', title: text.type, cell: ({ type }) => type },
          { id: 'archived', title: text.archivedAt, cell: ({ archivedAt }) => <Time at={archivedAt} /> },
        ]}
        actions={(feature) => [
          ...(mayCall(ReviveFeatures, { project })
            ? [
                {
                  id: 'revive',
                  label: text.reviveFlag,
                  run: () => setDialog({ action: 'revive', features: [feature] }),
                },
              ]
            : []),
          ...(mayCall(DeleteFeatures, { project })
            ? [
                {
                  id: 'delete',
                  label: text.deleteFlag,
                  icon: 'remove' as const,
                  run: () => setDialog({ action: 'delete', features: [feature] }),
                },
              ]
            : []),
        ]}
        empty={{ title: text.emptyArchive, help: text.emptyArchiveHelp }}
      />
      {dialog?.action === 'revive' && names.length > 1 && (
        <ReviveAllDialog project={project} names={names} onClose={() => setDialog(undefined)} />
      )}
      {dialog?.action === 'revive' && names.length === 1 && (
        <ConfirmOperationDialog
          title={text.reviveFlagTitle(firstName)}
          confirm={text.reviveFlag}
          operation={ReviveFeatures}
          request={request}
          notification={text.flagRevived(firstName)}
          onClose={() => setDialog(undefined)}
        >
          <p>{text.reviveFlagHelp}</p>
        </ConfirmOperationDialog>
      )}
      {dialog?.action === 'delete' && (
        <ConfirmOperationDialog
          title={text.deleteFlagTitle(firstName)}
          confirm={text.deleteFlag}
          isDangerous
          typedName={firstName}
          operation={DeleteFeatures}
          request={request}
          notification={text.flagDeleted(firstName)}
          onClose={() => setDialog(undefined)}
        >
          <p>{text.deleteFlagHelp}</p>
        </ConfirmOperationDialog>
      )}
    </div>
  );
};
