import { ValidateArchive } from '@bunting/contracts';
import { useMutation, useQueries, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useMayPropose, usePermissionCheck } from '../../api/permissions.ts';
import { serverNow } from '../../api/server-clock.ts';
import { call } from '../../api/call.ts';
import { Button } from '../../components/buttons/button.tsx';
import { ErrorNotice, Notice } from '../../components/content/notice.tsx';
import { Loading } from '../../components/content/query-result.tsx';
import { Time } from '../../components/content/time.tsx';
import { useProjectNames } from '../../components/content/project-name.tsx';
import { Dialog } from '../../components/dialogs/dialog.tsx';
import { TextField } from '../../components/forms/fields.tsx';
import { explainError } from '../../text/explain-error.ts';
import { missingPermission } from '../../text/permission-words.ts';
import {
  type BulkAction,
  type BulkResult,
  canBeProposed,
  proposalEnvironmentOf,
  runBulkAction,
  type SelectedFlag,
} from './bulk-action.ts';
import { permissionOf } from './selection-bar.tsx';
import { changeRequestConfigQuery, protectedEnvironmentsOf } from '../../changes/edit-protection.tsx';
import layout from '../../components/layout/layout.module.css';
import styles from './flags.module.css';
import { formatCount } from '../../text/format-number.ts';

const texts = {
  title: (action: BulkAction) => {
    switch (action.kind) {
      case 'switch':
        return `Turn ${action.enabled ? 'on' : 'off'} in ${action.environment}`;
      case 'tag':
        return action.isAdded ? 'Add a tag' : 'Remove a tag';
      case 'stale':
        return action.stale ? 'Mark as stale' : 'Mark as not stale';
      case 'archive':
        return 'Archive';
    }
  },
  run: (action: BulkAction, n: number) => {
    const verb = { switch: 'Change', tag: 'Change', stale: 'Mark', archive: 'Archive' }[action.kind];
    return `${verb} ${formatCount(n, 'flag')}`;
  },
} as const;
/** The maximum number of names that a preview lists; it only counts the others. */
const maxShownNames = 200;

/** The selected flags of a bulk action. There may be very many, so they are read only when the dialog is opened. */
interface SelectedFlagsReader {
  /** identifies the selection in the query cache */
  readonly key: readonly unknown[];
  readonly count: number;
  readonly read: (signal: AbortSignal) => Promise<readonly SelectedFlag[]>;
}

interface BulkDialogProps {
  readonly action: BulkAction;
  readonly flags: SelectedFlagsReader;
  readonly onClose: () => void;
}

function projectsOf(flags: readonly SelectedFlag[]): string[] {
  return [...new Set(flags.map(({ project }) => project))];
}

/** The maximum number of flags in one request that validates whether they can be archived. */
const flagsPerValidation = 5_000;

/** The names of the flags that cannot be archived, because other flags depend on them. @throws ApiError */
async function readParents(flags: readonly SelectedFlag[], signal: AbortSignal): Promise<string[]> {
  const parents: string[] = [];
  for (const projectId of projectsOf(flags)) {
    const names = flags.filter(({ project }) => project === projectId).map(({ name }) => name);
    for (let start = 0; start < names.length; start += flagsPerValidation) {
      const features = names.slice(start, start + flagsPerValidation);
      const validation = await call(ValidateArchive, { params: { projectId }, body: { features }, signal });
      parents.push(...validation.parentsWithChildFeatures);
    }
  }
  return parents;
}

function Names({ flags }: { readonly flags: readonly SelectedFlag[] }) {
  return (
    <ul className={styles['preview']} aria-label="Flags that change">
      {flags.slice(0, maxShownNames).map(({ name, project }) => (
        <li key={name}>
          <bdi>{name}</bdi>
          <span className={layout['muted']}>{project}</span>
        </li>
      ))}
      {flags.length > maxShownNames && (
        <li className={layout['muted']}>and {formatCount(flags.length - maxShownNames, 'more', 'more')}</li>
      )}
    </ul>
  );
}

const recentMs = 7 * 24 * 3_600_000;
const maxNamedAskers = 5;

/** Which of the flags applications still ask for, the most recent first. */
function StillAskedFor({ flags }: { readonly flags: readonly SelectedFlag[] }) {
  const [openedAt] = useState(serverNow);
  const recent = flags
    .flatMap(({ name, lastAsked }) =>
      lastAsked !== undefined && openedAt - Date.parse(lastAsked.at) < recentMs ? [{ name, ...lastAsked }] : [],
    )
    .toSorted((one, other) => other.at.localeCompare(one.at));
  if (recent.length === 0) return null;
  return (
    <Notice tone="warning">
      Applications asked for {formatCount(recent.length, 'flag')} of these in the last 7 days:
      <ul>
        {recent.slice(0, maxNamedAskers).map(({ name, environment, at }) => (
          <li key={name}>
            <bdi>{name}</bdi> in {environment}, <Time at={at} />
          </li>
        ))}
        {recent.length > maxNamedAskers && <li>and {formatCount(recent.length - maxNamedAskers, 'more', 'more')}</li>}
      </ul>
    </Notice>
  );
}

function Results({ results, onClose }: { readonly results: readonly BulkResult[]; readonly onClose: () => void }) {
  const count = (outcome: BulkResult['outcome']): number =>
    results.filter((result) => result.outcome === outcome).length;
  const nameOfProject = useProjectNames();
  const refused = results.filter(({ outcome }) => outcome === 'refused');
  const changeRequests = new Map(
    results.flatMap(({ changeRequest, project }) => (changeRequest === undefined ? [] : [[changeRequest, project]])),
  );
  return (
    <Dialog title="Result" onClose={onClose} footer={<Button onPress={onClose}>Close</Button>}>
      <div role="status">
        {count('done') > 0 && <p>{formatCount(count('done'), 'flag')} changed.</p>}
        {count('proposed') > 0 && <p>{formatCount(count('proposed'), 'flag')} proposed in a change request.</p>}
        {[...changeRequests].map(([id, project]) => (
          <p key={id}>
            <Link to="/projects/$project/change-requests/$id" params={{ project, id: String(id) }}>
              Open change request {id} of {nameOfProject(project)}
            </Link>
          </p>
        ))}
        {refused.length > 0 && <p>{formatCount(refused.length, 'flag')} refused:</p>}
      </div>
      {refused.length > 0 && (
        <ul className={styles['preview']}>
          {refused.slice(0, maxShownNames).map(({ name, error }) => (
            <li key={name}>
              <bdi>{name}</bdi>
              <span className={layout['muted']}>{explainError(error)}</span>
            </li>
          ))}
          {refused.length > maxShownNames && (
            <li className={layout['muted']}>and {formatCount(refused.length - maxShownNames, 'more', 'more')}</li>
          )}
        </ul>
      )}
    </Dialog>
  );
}

/** What an action does to the selected flags. */
interface BulkPlan {
  /** the flags that change, at once or by a change request */
  readonly changing: readonly SelectedFlag[];
  /** how many of them are changed by a change request */
  readonly proposalCount: number;
  /** flags that are as the action would leave them */
  readonly unchangedCount: number;
  /** flags that cannot be changed so */
  readonly impossibleCount: number;
  /** flags that the user may not change */
  readonly forbiddenCount: number;
  /** selected flags that are no longer in the list */
  readonly missingCount: number;
}

/** Reads the selected flags and what protects them. */
function useBulkPlan(action: BulkAction, source: SelectedFlagsReader) {
  const hasPermission = usePermissionCheck();
  const mayPropose = useMayPropose();
  const { data, error, refetch } = useQuery({
    queryKey: ['bulk', ...source.key, action.kind],
    queryFn: async ({ signal }) => {
      const flags = await source.read(signal);
      // Who may only propose to archive is told of dependent flags by the change request.
      const archivable = flags.filter(({ project }) => hasPermission('DELETE_FEATURE', { project }));
      return { flags, parents: new Set(action.kind === 'archive' ? await readParents(archivable, signal) : []) };
    },
    gcTime: 0,
    staleTime: Number.POSITIVE_INFINITY,
  });
  const byEffect = Map.groupBy(data?.flags ?? [], (flag) =>
    data?.parents.has(flag.name) === true ? 'impossible' : flag.effectOf(action),
  );
  const changeable = byEffect.get('changes') ?? [];
  const projects = canBeProposed(action) ? projectsOf(changeable) : [];
  const configs = useQueries({ queries: projects.map(changeRequestConfigQuery) });
  if (data === undefined || configs.some(({ isPending }) => isPending)) return { error, refetch };
  const projectsWithProposal = new Set(
    projects.filter(
      (_, index) => proposalEnvironmentOf(action, protectedEnvironmentsOf(configs[index]?.data ?? [])) !== undefined,
    ),
  );
  const environment = action.kind === 'switch' ? action.environment : undefined;
  const changing = changeable.filter(({ project }) =>
    projectsWithProposal.has(project)
      ? mayPropose(project)
      : hasPermission(permissionOf(action), { project, environment }),
  );
  const plan: BulkPlan = {
    changing,
    proposalCount: changing.filter(({ project }) => projectsWithProposal.has(project)).length,
    unchangedCount: byEffect.get('unchanged')?.length ?? 0,
    impossibleCount: byEffect.get('impossible')?.length ?? 0,
    forbiddenCount: changeable.length - changing.length,
    missingCount: source.count - data.flags.length,
  };
  return { plan, error, refetch };
}

interface PreviewProps {
  readonly action: BulkAction;
  readonly plan: BulkPlan;
  /** how many flags are done, while the action runs */
  readonly progress: number | undefined;
}

/** What an action will do, and to which flags it will do nothing. */
function Preview({ action, plan, progress }: PreviewProps) {
  const { changing, proposalCount, unchangedCount, impossibleCount, forbiddenCount, missingCount } = plan;
  const impossible =
    action.kind === 'archive'
      ? 'cannot be archived: other flags depend on them, or they are archived already.'
      : 'cannot be changed: archived, or not in this environment.';
  return (
    <>
      <div role="status">
        <p>
          {changing.length === 0
            ? 'No flag changes.'
            : `${formatCount(changing.length, 'flag')} in ${formatCount(projectsOf(changing).length, 'project')} will change:`}
        </p>
        {missingCount > 0 && (
          <p>
            {formatCount(missingCount, 'selected flag')} {missingCount === 1 ? 'is' : 'are'} no longer in this list:
            archived, moved or changed meanwhile.
          </p>
        )}
        {unchangedCount > 0 && (
          <p className={layout['muted']}>
            {formatCount(unchangedCount, 'flag')} {unchangedCount === 1 ? 'is' : 'are'} like that already.
          </p>
        )}
        {impossibleCount > 0 && (
          <p className={layout['muted']}>
            {formatCount(impossibleCount, 'flag')} {impossible}
          </p>
        )}
        {forbiddenCount > 0 && (
          <p className={layout['muted']}>
            You may not change {formatCount(forbiddenCount, 'flag')}: that takes{' '}
            {missingPermission([permissionOf(action)])}.
          </p>
        )}
        {progress !== undefined && (
          <p>
            {progress} of {formatCount(changing.length, 'flag')} done…
          </p>
        )}
      </div>
      {proposalCount > 0 && (
        <Notice tone="warning">
          {action.kind === 'archive'
            ? `${formatCount(proposalCount, 'flag')} ${proposalCount === 1 ? 'is' : 'are'} in a project with a protected environment: archiving becomes a change request per project.`
            : `The environment is protected for ${formatCount(proposalCount, 'flag')}: their changes become a change request per project.`}
        </Notice>
      )}
      {action.kind === 'archive' && <StillAskedFor flags={changing} />}
      {changing.length > 0 && <Names flags={changing} />}
    </>
  );
}

/** Previews which of the selected flags an action would change, runs the action, and shows its result for each flag. */
export function BulkDialog({ action: chosen, flags: source, onClose }: BulkDialogProps) {
  const [tagText, setTagText] = useState('');
  const [progress, setProgress] = useState<number | undefined>();
  const [results, setResults] = useState<readonly BulkResult[] | undefined>();
  const tagMatch = /^([^:\s]{2,50}):(.{2,50})$/.exec(tagText.trim());
  const isTagMissing = chosen.kind === 'tag' && tagMatch === null;
  const action: BulkAction =
    chosen.kind === 'tag' ? { ...chosen, tag: { type: tagMatch?.[1] ?? '', value: tagMatch?.[2] ?? '' } } : chosen;
  const { plan, error, refetch } = useBulkPlan(action, source);
  const { changing, proposalCount } = plan ?? { changing: [], proposalCount: 0 };
  const run = useMutation({
    mutationFn: (_: void, { client }) => runBulkAction(changing, action, { client, onProgress: setProgress }),
    onMutate: () => setProgress(0),
    onSuccess: setResults,
  });
  const isProposal = proposalCount > 0 && proposalCount === changing.length;

  if (results !== undefined) return <Results results={results} onClose={onClose} />;
  const isReady = plan !== undefined && !isTagMissing;
  return (
    <Dialog
      title={texts.title(chosen)}
      onClose={onClose}
      isAlert={progress !== undefined}
      onSubmit={(event) => {
        event.preventDefault();
        if (isReady && changing.length > 0 && !run.isPending) run.mutate();
      }}
      footer={
        <>
          <Button onPress={onClose} isDisabled={progress !== undefined}>
            Cancel
          </Button>
          <Button
            type="submit"
            variant={chosen.kind === 'archive' && !isProposal ? 'danger' : 'primary'}
            isDisabled={!isReady || changing.length === 0}
            isPending={progress !== undefined}
          >
            {isProposal
              ? `Propose for ${formatCount(proposalCount, 'flag')}`
              : texts.run(chosen, isReady ? changing.length : source.count)}
          </Button>
        </>
      }
    >
      {chosen.kind === 'tag' && (
        <TextField
          label="Tag"
          hint="Its type and value, as in team:web"
          value={tagText}
          onChange={setTagText}
          autoFocus
          {...(tagText !== '' && isTagMissing ? { error: 'Write type:value, each of 2 to 50 characters.' } : {})}
        />
      )}
      <ErrorNotice error={error} retry={() => void refetch()} />
      {plan === undefined && error === null && <Loading />}
      {isReady && <Preview action={action} plan={plan} progress={progress} />}
    </Dialog>
  );
}
