import {
  AddProjectEnvironment,
  type ChangeRequestSearchItem,
  type EnvironmentListOfProject,
  type FeatureStrategy,
  GetChangeRequestConfig,
  GetProjectOverview,
  ListEnvironmentsOfProject,
  RemoveProjectEnvironment,
  SearchChangeRequests,
  SetChangeRequestConfig,
  SetDefaultStrategy,
} from '@bunting/contracts';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import { call } from '../../../api/call.ts';
import { operationQuery, useOperationMutation } from '../../../api/queries.ts';
import { ConfirmOperationDialog } from '../../../components/dialogs/confirm-operation-dialog.tsx';
import { RequestBodyDialog } from '../../../components/forms/request-body-form.tsx';
import { Loading } from '../../../components/content/query-result.tsx';
import { Badge } from '../../../components/content/badge.tsx';
import { Switch } from '../../../components/forms/fields.tsx';
import { MissingPermissionNotice } from '../../../components/resources/missing-permission-notice.tsx';
import { useMayCall } from '../../../api/use-may-call.ts';
import { ResourceList } from '../../../components/resources/resource-list.tsx';
import { UsageList } from '../../../components/resources/usage-list.tsx';
import { useSearchParameter } from '../../../filtering/search-parameter.ts';
import { projectsMessages as text } from '../../../messages/projects.ts';
import { sharedMessages } from '../../../messages/shared.ts';
import { notify, notifyError } from '../../../shell/toasts.tsx';
import { useSegmentNames } from '../../../strategies/use-segment-names.ts';
import { strategySentence } from '../../../messages/sentences/strategy-sentence.ts';
import layout from '../../../components/layout/layout.module.css';
import styles from '../projects.module.css';

const DefaultStrategyForm = lazy(() =>
  import('./default-strategy-form.tsx').then(({ DefaultStrategyForm: component }) => ({ default: component })),
);

type ProjectEnvironment = EnvironmentListOfProject['environments'][number];

const reads = [ListEnvironmentsOfProject, GetChangeRequestConfig, GetProjectOverview];

const requestsOfPage = 1_000;

/** Every open change request that the user may see: the search has no filter by project. @throws ApiError */
const readOpenRequests = async (signal: AbortSignal) => {
  const changeRequests: ChangeRequestSearchItem[] = [];
  for (;;) {
    const query = { state: 'IS:open', limit: requestsOfPage, offset: changeRequests.length };
    const page = await call(SearchChangeRequests, { query, signal });
    changeRequests.push(...page.changeRequests);
    if (page.changeRequests.length < requestsOfPage || changeRequests.length >= page.total) return { changeRequests };
  }
};

/** Open change requests in an environment of a project. */
const OpenRequests = ({ project, environment }: { readonly project: string; readonly environment: string }) => {
  const open = useQuery({
    queryKey: [SearchChangeRequests.operationId, 'open'],
    queryFn: ({ signal }) => readOpenRequests(signal),
  });
  return (
    <UsageList
      query={open}
      title={text.protectionHelp}
      emptyText={text.protectionHelp(0)}
      uses={({ changeRequests }) =>
        changeRequests
          .filter((one) => one.project === project && one.environment === environment)
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
};

interface ProtectionDialogProps {
  readonly project: string;
  readonly environment: ProjectEnvironment;
  readonly approvals: number | undefined;
  readonly onClose: () => void;
}

const ProtectionDialog = ({ project, environment, approvals, onClose }: ProtectionDialogProps) => {
  const params = { projectId: project, environment: environment.name };
  const least = environment.requiredApprovals ?? undefined;
  const bodyOfApprovals = (required: number | null | undefined) => ({
    changeRequestsEnabled: required != null,
    requiredApprovals: required ?? least ?? 1,
  });
  return (
    <RequestBodyDialog
      title={text.protectionTitle(environment.name)}
      submit={sharedMessages.common.save}
      intro={<OpenRequests project={project} environment={environment.name} />}
      operation={SetChangeRequestConfig}
      request={{ params }}
      invalidates={reads}
      values={bodyOfApprovals(approvals)}
      readStored={async () => {
        const value = await call(GetChangeRequestConfig, { params: { projectId: project } });
        const config = value.find((one) => one.environment === environment.name);
        const required = config?.changeRequestEnabled === true ? (config.requiredApprovals ?? 1) : undefined;
        return { value: bodyOfApprovals(required) };
      }}
      fields={[
        { name: 'changeRequestsEnabled', label: text.protectionOn, hint: text.protectionOnHint },
        {
          name: 'requiredApprovals',
          label: text.requiredApprovals,
          ...(least === undefined ? {} : { hint: text.leastApprovals(least) }),
        },
      ]}
      notification={() => text.protectionSaved(environment.name)}
      onClose={onClose}
    />
  );
};

/** The environments of a project: which it uses, what flags begin with there, and how many approvals changes need. */
export const EnvironmentsTab = ({ project }: { readonly project: string }) => {
  const environments = useQuery({
    ...operationQuery(ListEnvironmentsOfProject, { params: { projectId: project } }),
    select: ({ environments: all }) => all.toSorted((one, other) => Number(other.visible) - Number(one.visible)),
  });
  const config = useQuery(operationQuery(GetChangeRequestConfig, { params: { projectId: project } }));
  const add = useOperationMutation(AddProjectEnvironment, reads);
  const mayCall = useMayCall();
  const [open, setOpen] = useState<{
    readonly action: 'remove' | 'protect';
    readonly environment: ProjectEnvironment;
  }>();
  const [edited, setEdited] = useSearchParameter('default');
  const where = { project };
  const segmentNames = useSegmentNames();
  const approvalsOf = (name: string): number | undefined => {
    const found = config.data?.find((one) => one.environment === name);
    return found?.changeRequestEnabled === true ? (found.requiredApprovals ?? 1) : undefined;
  };
  const use = async (environment: string): Promise<void> => {
    try {
      await add.mutateAsync({ params: { projectId: project }, body: { environment } });
      notify(text.environmentAdded(environment));
    } catch (error) {
      notifyError(error);
    }
  };
  const editedEnvironment = environments.data?.find(({ name }) => name === edited);
  if (editedEnvironment !== undefined) {
    return (
      <Suspense fallback={<Loading />}>
        <DefaultStrategyForm
          key={editedEnvironment.name}
          project={project}
          environment={editedEnvironment.name}
          stored={editedEnvironment.defaultStrategy ?? undefined}
          onClose={() => setEdited(undefined)}
        />
      </Suspense>
    );
  }
  return (
    <div className={layout['stack']}>
      <MissingPermissionNotice operation={AddProjectEnvironment} scope={where} />
      <ResourceList
        label={text.environments}
        query={environments}
        rowKey={({ name }) => name}
        name={({ name }) => name}
        columns={[
          {
            id: 'name',
            title: text.environment,
            cell: ({ name, type, enabled }) => (
              <span className={layout['inline']}>
                <strong>{name}</strong> {type !== name && <span className={styles['small']}>{type}</span>}
                {!enabled && <Badge>{text.deprecatedEnvironment}</Badge>}
              </span>
            ),
          },
          {
            id: 'use',
            title: text.inUse,
            cell: (environment) => (
              <Switch
                aria-label={text.addEnvironment(environment.name)}
                isSelected={environment.visible === true}
                isDisabled={!mayCall(AddProjectEnvironment, where) || add.isPending}
                onChange={(isUsed) =>
                  isUsed ? void use(environment.name) : setOpen({ action: 'remove', environment })
                }
              />
            ),
          },
          {
            id: 'flags',
            title: text.enabledFlags,
            isNumber: true,
            cell: ({ visible, projectEnabledToggleCount = 0 }) => (visible === true ? projectEnabledToggleCount : '–'),
          },
          {
            id: 'default',
            title: text.defaultStrategy,
            cell: ({ visible, defaultStrategy }) => {
              if (visible !== true) return '–';
              return defaultStrategy == null
                ? text.everybody
                : strategySentence(defaultStrategy as FeatureStrategy, segmentNames);
            },
          },
          {
            id: 'protection',
            title: text.protection,
            cell: ({ name, visible }) => {
              const approvals = approvalsOf(name);
              if (visible !== true) return '–';
              return approvals === undefined ? (
                <span className={layout['muted']}>{text.noProtection}</span>
              ) : (
                <Badge tone="accent">{text.approvals(approvals)}</Badge>
              );
            },
          },
        ]}
        actions={(environment) =>
          environment.visible !== true
            ? []
            : [
                ...(mayCall(SetChangeRequestConfig, where)
                  ? [
                      {
                        id: 'protect',
                        label: text.editProtection,
                        icon: 'changeRequest' as const,
                        run: () => setOpen({ action: 'protect', environment }),
                      },
                    ]
                  : []),
                ...(mayCall(SetDefaultStrategy, where)
                  ? [
                      {
                        id: 'default',
                        label: text.editDefault,
                        icon: 'edit' as const,
                        run: () => setEdited(environment.name),
                      },
                    ]
                  : []),
                ...(mayCall(RemoveProjectEnvironment, where)
                  ? [
                      {
                        id: 'remove',
                        label: text.removeEnvironment,
                        icon: 'remove' as const,
                        run: () => setOpen({ action: 'remove', environment }),
                      },
                    ]
                  : []),
              ]
        }
        empty={{ title: sharedMessages.common.nothingFound, help: '' }}
      />
      {open?.action === 'protect' && (
        <ProtectionDialog
          project={project}
          environment={open.environment}
          approvals={approvalsOf(open.environment.name)}
          onClose={() => setOpen(undefined)}
        />
      )}
      {open?.action === 'remove' && (
        <ConfirmOperationDialog
          title={text.removeEnvironmentTitle(open.environment.name, project)}
          confirm={text.removeEnvironment}
          isDangerous
          typedName={open.environment.name}
          operation={RemoveProjectEnvironment}
          request={{ params: { projectId: project, environment: open.environment.name } }}
          invalidates={reads}
          notification={text.environmentRemoved(open.environment.name)}
          onClose={() => setOpen(undefined)}
        >
          <p>{text.removeEnvironmentHelp(open.environment.projectEnabledToggleCount ?? 0)}</p>
          <OpenRequests project={project} environment={open.environment.name} />
        </ConfirmOperationDialog>
      )}
    </div>
  );
};
