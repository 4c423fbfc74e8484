import { GetChangeRequestConfig, GetProposalTarget, type Permission, type ReplyOf } from '@bunting/contracts';
import { type QueryClient, queryOptions, useQuery } from '@tanstack/react-query';
import { useMayPropose, usePermissionCheck } from '../api/permissions.ts';
import { operationQuery } from '../api/queries-and-mutations.ts';
import { Button } from '../components/buttons/button.tsx';
import { Notice } from '../components/content/notice.tsx';

/** The query for the environments of a project and their protection by change requests. */
export function changeRequestConfigQuery(projectId: string) {
  return queryOptions({ ...operationQuery(GetChangeRequestConfig, { params: { projectId } }), staleTime: 60_000 });
}

/** The environments in which changes need a change request, those of production first. */
export function protectedEnvironmentsOf(config: ReplyOf<typeof GetChangeRequestConfig>): readonly string[] {
  return config
    .filter(({ changeRequestEnabled }) => changeRequestEnabled)
    .toSorted((one, other) => Number(other.type === 'production') - Number(one.type === 'production'))
    .map(({ environment }) => environment);
}

/**
 * Reads the protected environments of a project from the server, without the cache: for a decision just before a change is made.
 * @throws ApiError
 */
export async function readProtectedEnvironments(client: QueryClient, project: string): Promise<readonly string[]> {
  return protectedEnvironmentsOf(await client.fetchQuery({ ...changeRequestConfigQuery(project), staleTime: 0 }));
}

export interface EditProtection {
  /** empty for an edit that belongs to no project, which nothing protects */
  readonly project: string;
  /** the protected environments are not yet known: an edit has to wait for them */
  readonly isLoading: boolean;
  /** the protected environments that the edit touches; a proposed edit becomes part of a change request in the first */
  readonly environments: readonly string[];
  /** whether the user may edit all of them without a change request */
  readonly maySkip: boolean;
  /** whether an edit that is made directly bypasses change requests: environments are protected, and the user may skip that */
  readonly isDirect: boolean;
}

/**
 * The protection that an edit of flags of a project meets in one environment, or in those of a list; without `inEnvironments`, in all of them.
 * Without a project there is none.
 */
export function useEditProtection(
  project: string | undefined,
  inEnvironments?: string | readonly string[],
): EditProtection {
  const { data, isPending } = useQuery({
    ...changeRequestConfigQuery(project ?? ''),
    enabled: project !== undefined,
  });
  const hasPermission = usePermissionCheck();
  const environments = protectedEnvironmentsOf(data ?? []).filter(
    (name) => inEnvironments === undefined || [inEnvironments].flat().includes(name),
  );
  const maySkip = environments.every((environment) => hasPermission('SKIP_CHANGE_REQUEST', { project, environment }));
  const isLoading = isPending && project !== undefined;
  return { project: project ?? '', isLoading, environments, maySkip, isDirect: maySkip && environments.length > 0 };
}

/**
 * A function that tells whether the user may make or propose an edit of flags of a project. Where the environment is protected, or any
 * environment for an edit that concerns all of them, it is proposed, which takes no permission. Nothing is protected without a project.
 */
export function useMayEdit(project: string | undefined): (permission: Permission, environment?: string) => boolean {
  const { data } = useQuery({ ...changeRequestConfigQuery(project ?? ''), enabled: project !== undefined });
  const hasPermission = usePermissionCheck();
  const mayPropose = useMayPropose()(project ?? '');
  const protectedEnvironments = protectedEnvironmentsOf(data ?? []);
  return (permission, environment) => {
    const affected = protectedEnvironments.filter((name) => environment === undefined || name === environment);
    const maySkip = affected.every((name) => hasPermission('SKIP_CHANGE_REQUEST', { project, environment: name }));
    return (affected.length > 0 && mayPropose) || (maySkip && hasPermission(permission, { project, environment }));
  };
}

function areProtected(environments: readonly string[]): string {
  return `${environments.join(' and ')} ${environments.length === 1 ? 'is' : 'are'} protected`;
}

/** To which change request the user's proposal would be added, as a sentence. */
function ProposalTargetSentence({ project, environment }: { readonly project: string; readonly environment: string }) {
  const params = { projectId: project, environment };
  const { data } = useQuery(operationQuery(GetProposalTarget, { params }));
  if (data === undefined) return null;
  const target = data.changeRequest;
  if (target === null) return ' It starts a new draft.';
  const title = <bdi>“{target.title}”</bdi>;
  return target.state === 'Draft' ? (
    <> It is added to your draft {title}.</>
  ) : (
    <>
      {' '}
      Your request {title} is {target.state === 'Approved' ? 'approved' : 'in review'}: you are asked whether this is
      added to it, which makes its approvals lapse, or starts a new draft.
    </>
  );
}

interface ProtectionNoticeProps {
  readonly protection: EditProtection;
  readonly isPending: boolean;
  /** proposes the edit, where the user could also make it directly */
  readonly onPropose: () => void;
}

interface SkipChangeRequestNoticeProps {
  readonly protection: EditProtection;
  readonly isPending: boolean;
  readonly isDisabled?: boolean;
  /** the button that makes the edit without a change request */
  readonly label: string;
  readonly onDirect: () => void;
}

/** Offers an edit without a change request, where it would be proposed and the user may skip that. */
export function SkipChangeRequestNotice({
  protection: {
    project,
    environments: [environment],
    isDirect,
  },
  isPending,
  isDisabled = false,
  label,
  onDirect,
}: SkipChangeRequestNoticeProps) {
  return (
    environment !== undefined &&
    isDirect && (
      <Notice
        actions={
          <Button size="small" isPending={isPending} isDisabled={isDisabled} onPress={onDirect}>
            {label}
          </Button>
        }
      >
        {environment} is protected: this becomes part of a change request.
        <ProposalTargetSentence project={project} environment={environment} /> You have the permission to skip change
        requests, and can also do it directly, without approval.
      </Notice>
    )
  );
}

/** Explains the effect of protected environments on an edit: it becomes a proposal, or it applies directly and could be proposed instead. */
export function ProtectionNotice({
  protection: { project, environments, maySkip },
  isPending,
  onPropose,
}: ProtectionNoticeProps) {
  const [environment] = environments;
  if (environment === undefined) return null;
  if (!maySkip)
    return (
      <Notice>
        {areProtected(environments)}: this becomes part of a change request, and takes effect when that is approved and
        applied.
        <ProposalTargetSentence project={project} environment={environment} />
      </Notice>
    );
  return (
    <Notice
      tone="warning"
      actions={
        <Button size="small" isPending={isPending} onPress={onPropose}>
          Propose it instead
        </Button>
      }
    >
      {areProtected(environments)}. You have the permission to skip change requests: this applies directly, without
      approval.
    </Notice>
  );
}
