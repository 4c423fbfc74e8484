import {
  AddChanges,
  type AnyOperation,
  DeleteSegment,
  GetSegment,
  ListStrategiesOfSegment,
  ReplaceSegmentList,
  type Segment,
  UpdateSegment,
} from '@bunting/contracts';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { callWithEntityTag, type WithEntityTag } from '../../../api/call.ts';
import { operationQuery, operationQueryWithEntityTag } from '../../../api/queries-and-mutations.ts';
import { ConfirmOperationDialog } from '../../../components/dialogs/confirm-operation-dialog.tsx';
import { RequestBodyForm } from '../../../components/forms/request-body-form.tsx';
import type { FormValues } from '../../../components/forms/request-body-schema.ts';
import { Button } from '../../../components/buttons/button.tsx';
import { Notice } from '../../../components/content/notice.tsx';
import { QueryResult } from '../../../components/content/query-result.tsx';
import { MissingPermissionNotice } from '../../../components/resources/missing-permission-notice.tsx';
import { useMayCall, useMayPropose } from '../../../api/permissions.ts';
import { FlagLink, UsageList } from '../../../components/resources/usage-list.tsx';
import { readProtectedEnvironments, useEditProtection } from '../../../changes/edit-protection.tsx';
import { useTargetOfUse } from '../../../changes/segment-use.ts';
import { adminCrumbs, AdminPage } from '../admin-page.tsx';
import { notify, notifyError } from '../../../shell/toasts.tsx';
import { bodyOfSegment, useFields, useSegmentForm } from './segment-form.tsx';
import { SegmentListSection } from './segment-list.tsx';
import {
  ProposeSegmentButton,
  type ProposalTarget,
  proposalRequestOf,
  useProposeSegmentEdit,
} from './propose-segment.tsx';
import layout from '../../../components/layout/layout.module.css';
import styles from '../admin.module.css';
import { formatCount } from '../../../text/format-number.ts';
import { missingPermission } from '../../../text/permission-words.ts';
import { isolated } from '../../../text/isolated.ts';

const texts = {
  changeRequest: (id: number | null, title: string | null) =>
    title ?? (id === null ? 'a draft' : `change request ${id}`),
} as const;

/** The strategies that use a segment, and the proposed ones of change requests that would use it. */
function SegmentUsage({ id }: { readonly id: number }) {
  const usage = useQuery(operationQuery(ListStrategiesOfSegment, { params: { id } }));
  return (
    <>
      <UsageList
        query={usage}
        title={(n) =>
          `${formatCount(n, 'strategy', 'strategies')} ${n === 1 ? 'uses' : 'use'} it. A change reaches their users within seconds.`
        }
        emptyText="No strategy that you can see uses it."
        uses={({ strategies }) =>
          strategies.map((strategy) => ({
            key: strategy.id,
            node: (
              <FlagLink
                project={strategy.projectId}
                feature={strategy.featureName}
                environment={strategy.environment}
              />
            ),
          }))
        }
      />
      <UsageList
        query={usage}
        title={(n) => `${formatCount(n, 'proposed strategy', 'proposed strategies')} would use it.`}
        emptyText="No open change request that you can see would use it."
        uses={({ changeRequestStrategies }) =>
          changeRequestStrategies.map(({ projectId, featureName, environment, changeRequest }, index) => ({
            key: String(index),
            node: (
              <>
                <FlagLink project={projectId} feature={featureName} environment={environment} />{' '}
                {changeRequest.id === null ? (
                  texts.changeRequest(null, changeRequest.title)
                ) : (
                  <Link
                    to="/projects/$project/change-requests/$id"
                    params={{ project: projectId, id: String(changeRequest.id) }}
                  >
                    {texts.changeRequest(changeRequest.id, changeRequest.title)}
                  </Link>
                )}
              </>
            ),
          }))
        }
      />
    </>
  );
}

function StoredSegment({ id, stored }: { readonly id: number; readonly stored: WithEntityTag<Segment> }) {
  const fields = useFields(UpdateSegment, stored.value.project ?? null);
  const navigate = useNavigate();
  const mayCall = useMayCall();
  const usage = useQuery(operationQuery(ListStrategiesOfSegment, { params: { id } }));
  const [isDeleting, setDeleting] = useState(false);
  const { name, project } = stored.value;
  const { renderConstraints, ...form } = useSegmentForm();
  const [list, setList] = useState(stored.value.list);
  const scope = { project: project ?? undefined };
  const client = useQueryClient();
  const { environments, maySkip, isDirect } = useEditProtection(project ?? undefined);
  const mayPropose = useMayPropose();
  const { target: targetOfUse } = useTargetOfUse(project == null ? usage.data : undefined);
  const target =
    project == null
      ? targetOfUse && { ...targetOfUse, maySkip: false }
      : environments.length === 0 || !mayPropose(project)
        ? undefined
        : { project, environments, maySkip };
  const mayCallDirectly = (operation: AnyOperation): boolean => mayCall(operation, scope) && !needsChangeRequest;
  // An edit may not be offered before it is known whether it is allowed.
  const needsChangeRequest = usage.data?.needsChangeRequest ?? usage.isPending;
  const isUsed = (usage.data?.strategies.length ?? 0) > 0;
  const readStored = async (): Promise<WithEntityTag<FormValues>> => {
    const { value, entityTag } = await callWithEntityTag(GetSegment, { params: { id } });
    return { value: bodyOfSegment(value), entityTag };
  };
  const editProps = {
    id,
    toBody: form.prepare,
    readStored: async () => (await readStored()).value,
  };
  const proposal = useProposeSegmentEdit();
  // Reads the protected environments again when the segment is saved: those in the cache may be old.
  const proposeInstead = async (values: FormValues, base: FormValues): Promise<boolean> => {
    let proposed: Omit<ProposalTarget, 'maySkip'> | undefined = targetOfUse;
    if (project != null) {
      if (isDirect || !mayPropose(project)) return false;
      proposed = { project, environments: await readProtectedEnvironments(client, project) };
    }
    if (proposed === undefined || proposed.environments.length === 0) return false;
    const { id: changeRequest } = await proposal.mutateAsync({
      target: proposed,
      edit: { ...editProps, base, values },
    });
    notify(`Added to change request ${changeRequest}.`);
    return true;
  };
  const startDeleting = async (): Promise<void> => {
    try {
      if (project != null) await readProtectedEnvironments(client, project);
      setDeleting(true);
    } catch (error) {
      notifyError(error);
    }
  };
  const deletionProps = {
    title: `Delete the segment “${isolated(name)}”`,
    isDangerous: true,
    isImpossible: isUsed,
    onClose: () => setDeleting(false),
  };
  const deletionNotes = (help: string) => (
    <>
      {isUsed ? (
        <Notice tone="warning">It is in use. Take it out of the strategies below first.</Notice>
      ) : (
        <p>{help}</p>
      )}
      <SegmentUsage id={id} />
    </>
  );
  return (
    <AdminPage
      id="segments"
      title={name}
      actions={
        (target !== undefined || mayCallDirectly(DeleteSegment)) && (
          <Button icon="remove" onPress={() => void startDeleting()}>
            Delete the segment
          </Button>
        )
      }
    >
      {target === undefined && <MissingPermissionNotice operation={UpdateSegment} scope={scope} />}
      {target === undefined && usage.data?.needsChangeRequest === true && mayCall(UpdateSegment, scope) && (
        <Notice>
          {project == null ? 'Protected environments use it' : 'Its project has protected environments'}: to change it
          takes {missingPermission(['SKIP_CHANGE_REQUEST'])} there.
        </Notice>
      )}
      <div className={styles['columns']}>
        <RequestBodyForm
          operation={UpdateSegment}
          request={{ params: { id } }}
          values={bodyOfSegment(stored.value)}
          entityTag={stored.entityTag}
          isReadOnly={target === undefined && !mayCallDirectly(UpdateSegment)}
          readStored={readStored}
          proposeInstead={proposeInstead}
          fields={fields}
          {...form}
          renderBody={(values, onChange, base) => (
            <>
              {renderConstraints(values, onChange, list !== undefined)}
              {target !== undefined && (
                <ProposeSegmentButton
                  {...editProps}
                  isComplete={form.isComplete}
                  target={target}
                  base={base}
                  values={values}
                  onReset={onChange}
                />
              )}
            </>
          )}
          notification={({ name: saved }) => `The segment ${String(saved)} is saved.`}
        />
        <div className={layout['stack']}>
          <SegmentListSection
            id={id}
            list={list}
            mayEdit={
              project != null && target !== undefined
                ? mayCall(ReplaceSegmentList, scope)
                : mayCallDirectly(ReplaceSegmentList)
            }
            target={target}
            onChange={setList}
          />
          <section className={layout['stack']} aria-labelledby="uses">
            <h2 id="uses">Used by</h2>
            <SegmentUsage id={id} />
          </section>
        </div>
      </div>
      {isDeleting && target === undefined && (
        <ConfirmOperationDialog
          {...deletionProps}
          confirm="Delete the segment"
          operation={DeleteSegment}
          request={{ params: { id }, ifMatch: undefined }}
          notification={`The segment ${isolated(name)} is deleted.`}
          onDone={() => void navigate({ to: '/admin/$section', params: { section: 'segments' }, ignoreBlocker: true })}
        >
          {deletionNotes('It cannot be brought back; the event log keeps what it was.')}
        </ConfirmOperationDialog>
      )}
      {isDeleting && target !== undefined && (
        <ConfirmOperationDialog
          {...deletionProps}
          confirm="Propose in a change request"
          operation={AddChanges}
          request={proposalRequestOf(target, { action: 'deleteSegment', payload: { id } })}
          notification={`The deletion of ${isolated(name)} is part of your change request.`}
        >
          {deletionNotes('The segment is deleted when the change request is applied.')}
        </ConfirmOperationDialog>
      )}
    </AdminPage>
  );
}

/** The form of a stored segment, together with its usage. */
export function SegmentPage({ item }: { readonly item: string }) {
  const id = Number(item);
  const stored = useQuery({
    ...operationQueryWithEntityTag(GetSegment, { params: { id } }),
    // Not read again while the user edits it: what others save meanwhile is merged when the user saves.
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  });
  return (
    <QueryResult query={stored} page="segment" crumbs={adminCrumbs('segments', true)} isForm>
      {(data) => <StoredSegment id={id} stored={data} />}
    </QueryResult>
  );
}
