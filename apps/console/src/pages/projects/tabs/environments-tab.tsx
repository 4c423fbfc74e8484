import {
  AddProjectEnvironment,
  type ChangeRequestSearchItem,
  type EnvironmentListOfProject,
  type FeatureStrategy,
  GetChangeRequestConfig,
  ListEnvironmentsOfProject,
  RemoveProjectEnvironment,
  type ReplyOf,
  SearchChangeRequests,
  SetChangeRequestConfig,
  SetDefaultStrategy,
  strategySentence,
} from '@bunting/contracts';
import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Suspense, useState } from 'react';
import { call } from '../../../api/call.ts';
import {
  operationKey,
  operationQuery,
  useOperationMutation,
  useSegmentNames,
} from '../../../api/queries-and-mutations.ts';
import { EnvironmentName } from '../../../components/environments/environment-name.tsx';
import { ConfirmOperationDialog } from '../../../components/dialogs/confirm-operation-dialog.tsx';
import { RequestBodyDialog } from '../../../components/forms/request-body-form.tsx';
import { Loading } from '../../../components/content/query-result.tsx';
import type { MenuEntry } from '../../../components/buttons/menu.tsx';
import { useProjectName } from '../../../components/content/project-name.tsx';
import { Button } from '../../../components/buttons/button.tsx';
import { Badge } from '../../../components/content/badge.tsx';
import { Switch } from '../../../components/forms/fields.tsx';
import { MissingPermissionNotice } from '../../../components/resources/missing-permission-notice.tsx';
import { useMayCall, usePermissionCheck } from '../../../api/permissions.ts';
import { ResourceList } from '../../../components/resources/resource-list.tsx';
import { UsageList } from '../../../components/resources/usage-list.tsx';
import { useSearchParameter } from '../../../filtering/search-parameter.ts';
import { notify, notifyError } from '../../../shell/toasts.tsx';
import layout from '../../../components/layout/layout.module.css';
import styles from '../projects.module.css';
import { formatCount, formatNumber } from '../../../text/format-number.ts';
import { isolated } from '../../../text/isolated.ts';
import { lazyPart } from '../../../components/content/lazy-part.tsx';

const texts = {
  protectionHelp: (n: number) =>
    n === 0
      ? 'No change request is open there.'
      : `${formatCount(n, 'change request')} ${n === 1 ? 'is' : 'are'} open there. They keep going, whatever you choose.`,
  removeEnvironmentHelp: (n: number) =>
    `Every strategy and state that flags have there is deleted. ${formatCount(n, 'flag')} of the project ${n === 1 ? 'is' : 'are'} on in it now.`,
} as const;

const DefaultStrategyForm = lazyPart(() =>
  import('./default-strategy-form.tsx').then(({ DefaultStrategyForm }) => DefaultStrategyForm),
);

type ProjectEnvironment = EnvironmentListOfProject['environments'][number];

/** The maximum number of change requests that one request returns. */
const pageSize = 1_000;

/** Reads all open change requests that the user may see, since the search has no filter by project. @throws ApiError */
async function readOpenChangeRequests(signal: AbortSignal) {
  const changeRequests: ChangeRequestSearchItem[] = [];
  for (;;) {
    const query = { state: 'IS:open', limit: pageSize, offset: changeRequests.length };
    const page = await call(SearchChangeRequests, { query, signal });
    changeRequests.push(...page.changeRequests);
    if (page.changeRequests.length < pageSize || changeRequests.length >= page.total) return { changeRequests };
  }
}

/** Lists the open change requests in an environment of a project. */
function OpenChangeRequests({ project, environment }: { readonly project: string; readonly environment: string }) {
  const changeRequestsQuery = useQuery({
    queryKey: operationKey(SearchChangeRequests, 'open'),
    queryFn: ({ signal }) => readOpenChangeRequests(signal),
  });
  return (
    <UsageList
      query={changeRequestsQuery}
      title={texts.protectionHelp}
      emptyText={texts.protectionHelp(0)}
      uses={({ changeRequests }) =>
        changeRequests
          .filter((request) => request.project === project && request.environment === environment)
          .map(({ id, title }) => ({
            key: String(id),
            node: (
              <Link to="/projects/$project/change-requests/$id" params={{ project, id: String(id) }}>
                {title ?? `#${id}`}
              </Link>
            ),
          }))
      }
    />
  );
}

/** The number of approvals that a change in an environment needs; undefined where changes need none. */
function requiredApprovalsIn(
  config: ReplyOf<typeof GetChangeRequestConfig> | undefined,
  environment: string,
): number | undefined {
  const entry = config?.find((candidate) => candidate.environment === environment);
  return entry?.changeRequestEnabled === true ? (entry.requiredApprovals ?? 1) : undefined;
}

interface ProtectionDialogProps {
  readonly project: string;
  readonly environment: ProjectEnvironment;
  /** the number of approvals that a change needs; undefined where changes need none */
  readonly approvals: number | undefined;
  readonly onClose: () => void;
}

function ProtectionDialog({ project, environment, approvals, onClose }: ProtectionDialogProps) {
  const params = { projectId: project, environment: environment.name };
  const minApprovals = environment.requiredApprovals ?? undefined;
  const bodyOfApprovals = (required: number | null | undefined) => ({
    changeRequestsEnabled: required != null,
    requiredApprovals: required ?? minApprovals ?? 1,
  });
  return (
    <RequestBodyDialog
      title={`Approvals for changes in ${environment.name}`}
      submit="Save"
      intro={<OpenChangeRequests project={project} environment={environment.name} />}
      operation={SetChangeRequestConfig}
      request={{ params }}
      values={bodyOfApprovals(approvals)}
      readStored={async () => {
        const value = await call(GetChangeRequestConfig, { params: { projectId: project } });
        return { value: bodyOfApprovals(requiredApprovalsIn(value, environment.name)) };
      }}
      fields={[
        {
          name: 'changeRequestsEnabled',
          label: 'Changes are proposed, approved and applied',
          hint: 'Otherwise users with the permission change flags directly.',
        },
        {
          name: 'requiredApprovals',
          label: 'Approvals that a change request needs',
          ...(minApprovals === undefined ? {} : { hint: `The environment asks for at least ${minApprovals}.` }),
        },
      ]}
      notification={() => `The approvals for ${environment.name} are saved.`}
      onClose={onClose}
    />
  );
}

interface RemoveEnvironmentDialogProps {
  readonly project: string;
  readonly environment: ProjectEnvironment;
  readonly onClose: () => void;
}

function RemoveEnvironmentDialog({ project, environment, onClose }: RemoveEnvironmentDialogProps) {
  const name = useProjectName(project);
  return (
    <ConfirmOperationDialog
      title={`Remove ${environment.name} from “${isolated(name ?? project)}”`}
      confirm="Stop using it"
      isDangerous
      typedName={environment.name}
      operation={RemoveProjectEnvironment}
      request={{ params: { projectId: project, environment: environment.name } }}
      notification={`The project does not use ${environment.name} any more.`}
      onClose={onClose}
    >
      <p>{texts.removeEnvironmentHelp(environment.projectEnabledToggleCount ?? 0)}</p>
      <OpenChangeRequests project={project} environment={environment.name} />
    </ConfirmOperationDialog>
  );
}

interface EnvironmentListProps {
  readonly project: string;
  readonly environments: UseQueryResult<readonly ProjectEnvironment[]>;
  readonly onEditDefaultStrategy: (environment: string) => void;
}

/** The environments of the installation: whether the project uses them and, if it does, how. */
function EnvironmentList({ project, environments, onEditDefaultStrategy }: EnvironmentListProps) {
  const config = useQuery(operationQuery(GetChangeRequestConfig, { params: { projectId: project } }));
  const addEnvironment = useOperationMutation(AddProjectEnvironment, 'handled');
  const mayCall = useMayCall();
  const [dialog, setDialog] = useState<{
    readonly action: 'remove' | 'protect';
    readonly environment: ProjectEnvironment;
  }>();
  const close = (): void => setDialog(undefined);
  const scope = { project };
  const hasPermission = usePermissionCheck();
  // That deletes what flags have there, and is in no change request.
  const mayRemove = ({ name }: ProjectEnvironment): boolean =>
    mayCall(RemoveProjectEnvironment, scope) &&
    (requiredApprovalsIn(config.data, name) === undefined ||
      hasPermission('SKIP_CHANGE_REQUEST', { project, environment: name }));
  const segmentNames = useSegmentNames();
  const startUsing = async (environment: string): Promise<void> => {
    try {
      await addEnvironment.mutateAsync({ params: { projectId: project }, body: { environment } });
      notify(`The project uses ${environment} now; every flag is off there.`);
    } catch (error) {
      notifyError(error);
    }
  };
  const actionsOf = (environment: ProjectEnvironment): readonly MenuEntry[] =>
    environment.visible !== true
      ? []
      : [
          ...(mayCall(SetChangeRequestConfig, scope)
            ? [
                {
                  id: 'protect',
                  label: 'Set approvals',
                  icon: 'changeRequest' as const,
                  run: () => setDialog({ action: 'protect', environment }),
                },
              ]
            : []),
          ...(mayCall(SetDefaultStrategy, scope)
            ? [
                {
                  id: 'default',
                  label: 'Edit the default strategy',
                  icon: 'edit' as const,
                  run: () => onEditDefaultStrategy(environment.name),
                },
              ]
            : []),
          ...(mayRemove(environment)
            ? [
                {
                  id: 'remove',
                  label: 'Stop using it',
                  icon: 'remove' as const,
                  run: () => setDialog({ action: 'remove', environment }),
                },
              ]
            : []),
        ];
  return (
    <div className={layout['stack']}>
      <MissingPermissionNotice operation={AddProjectEnvironment} scope={scope} />
      <ResourceList
        label="Environments"
        query={environments}
        rowKey={({ name }) => name}
        name={({ name }) => name}
        columns={[
          {
            title: 'Environment',
            cell: ({ name, type, enabled }) => (
              <span className={layout['inline']}>
                <strong>
                  <EnvironmentName name={name} type={type} />
                </strong>{' '}
                {type !== name && type !== 'production' && <span className={styles['small']}>{type}</span>}
                {!enabled && <Badge>deprecated</Badge>}
              </span>
            ),
          },
          {
            title: 'Used here',
            cell: (environment) => (
              <Switch
                aria-label={`Use ${environment.name} in this project`}
                isSelected={environment.visible === true}
                isDisabled={
                  addEnvironment.isPending ||
                  !(environment.visible === true ? mayRemove(environment) : mayCall(AddProjectEnvironment, scope))
                }
                onChange={(isUsed) =>
                  isUsed ? void startUsing(environment.name) : setDialog({ action: 'remove', environment })
                }
              />
            ),
          },
          {
            title: 'Flags on',
            isNumber: true,
            cell: ({ visible, projectEnabledToggleCount = 0 }) =>
              visible === true ? formatNumber(projectEnabledToggleCount) : '–',
          },
          {
            title: 'Default strategy',
            cell: ({ visible, defaultStrategy }) => {
              if (visible !== true) return '–';
              return defaultStrategy == null
                ? 'Everybody'
                : strategySentence(defaultStrategy as FeatureStrategy, segmentNames);
            },
          },
          {
            title: 'Changes need',
            cell: (environment) => {
              const { name, visible } = environment;
              const approvals = requiredApprovalsIn(config.data, name);
              if (visible !== true) return '–';
              if (mayCall(SetChangeRequestConfig, scope))
                return (
                  <Button size="small" onPress={() => setDialog({ action: 'protect', environment })}>
                    {approvals === undefined ? 'no approval' : formatCount(approvals, 'approval')}
                    <span className="visually-hidden">, set approvals for {name}</span>
                  </Button>
                );
              return approvals === undefined ? (
                <span className={layout['muted']}>no approval</span>
              ) : (
                <Badge tone="accent">{formatCount(approvals, 'approval')}</Badge>
              );
            },
          },
        ]}
        actions={actionsOf}
        empty={{ title: 'Nothing matches.', help: '' }}
      />
      {dialog?.action === 'protect' && (
        <ProtectionDialog
          project={project}
          environment={dialog.environment}
          approvals={requiredApprovalsIn(config.data, dialog.environment.name)}
          onClose={close}
        />
      )}
      {dialog?.action === 'remove' && (
        <RemoveEnvironmentDialog project={project} environment={dialog.environment} onClose={close} />
      )}
    </div>
  );
}

/**
 * The environments of a project, with the default strategies and the approvals of those that it uses. The search parameter `default` names
 * the environment whose default strategy is edited instead.
 */
export function EnvironmentsTab({ project }: { readonly project: string }) {
  const environments = useQuery({
    ...operationQuery(ListEnvironmentsOfProject, { params: { projectId: project } }),
    select: ({ environments: all }) => all.toSorted((one, other) => Number(other.visible) - Number(one.visible)),
  });
  const [editedName, setEditedName] = useSearchParameter('default');
  const edited = environments.data?.find(({ name }) => name === editedName);
  if (edited === undefined) {
    return <EnvironmentList project={project} environments={environments} onEditDefaultStrategy={setEditedName} />;
  }
  return (
    <Suspense fallback={<Loading />}>
      <DefaultStrategyForm
        key={edited.name}
        project={project}
        environment={edited.name}
        stored={edited.defaultStrategy ?? undefined}
        onClose={() => setEditedName(undefined)}
      />
    </Suspense>
  );
}
