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
              Open change request {id} of {project}
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

/** Previews which of the selected flags an action would change, runs the action, and shows its result for each flag. */
export function BulkDialog({ action: actionWithoutTag, flags: source, onClose }: BulkDialogProps) {
  const [tagText, setTagText] = useState('');
  const [progress, setProgress] = useState<number | undefined>();
  const [results, setResults] = useState<readonly BulkResult[] | undefined>();
  const tagMatch = /^([^:\s]{2,50}):(.{2,50})$/.exec(tagText.trim());
  const needsTag = actionWithoutTag.kind === 'tag';
  const action: BulkAction =
    actionWithoutTag.kind === 'tag'
      ? { ...actionWithoutTag, tag: { type: tagMatch?.[1] ?? '', value: tagMatch?.[2] ?? '' } }
      : actionWithoutTag;
  const hasPermission = usePermissionCheck();
  const mayPropose = useMayPropose();
  const selected = useQuery({
    queryKey: ['bulk', ...source.key, actionWithoutTag.kind],
    queryFn: async ({ signal }) => {
      const flags = await source.read(signal);
      // Who may only propose to archive is told of dependent flags by the change request.
      const archivable = flags.filter(({ project }) => hasPermission('DELETE_FEATURE', { project }));
      return { flags, parents: actionWithoutTag.kind === 'archive' ? await readParents(archivable, signal) : [] };
    },
    gcTime: 0,
    staleTime: Number.POSITIVE_INFINITY,
  });
  const flags = selected.data?.flags ?? [];
  const parents = new Set(selected.data?.parents ?? []);
  const effects = flags.map((flag) => ({
    flag,
    effect: parents.has(flag.name) ? 'impossible' : flag.effectOf(action),
  }));
  const flagsWithEffect = (effect: string): SelectedFlag[] =>
    effects.filter((entry) => entry.effect === effect).map(({ flag }) => flag);
  const [changeableFlags, unchangedFlags, impossibleFlags] = [
    flagsWithEffect('changes'),
    flagsWithEffect('unchanged'),
    flagsWithEffect('impossible'),
  ];
  const projects = canBeProposed(action) ? projectsOf(changeableFlags) : [];
  const configs = useQueries({ queries: projects.map(changeRequestConfigQuery) });
  const areProtectionsRead = configs.every(({ isPending }) => !isPending);
  const projectsWithProposal = new Set(
    projects.filter(
      (_, index) => proposalEnvironmentOf(action, protectedEnvironmentsOf(configs[index]?.data ?? [])) !== undefined,
    ),
  );
  const environment = action.kind === 'switch' ? action.environment : undefined;
  const mayChange = ({ project }: SelectedFlag): boolean =>
    projectsWithProposal.has(project)
      ? mayPropose(project)
      : hasPermission(permissionOf(action), { project, environment });
  const changingFlags = changeableFlags.filter(mayChange);
  const forbiddenCount = areProtectionsRead ? changeableFlags.length - changingFlags.length : 0;
  const run = useMutation({
    mutationFn: (_: void, { client }) => runBulkAction(changingFlags, action, { client, onProgress: setProgress }),
    onMutate: () => setProgress(0),
    onSuccess: setResults,
  });
  const proposalCount = areProtectionsRead
    ? changingFlags.filter(({ project }) => projectsWithProposal.has(project)).length
    : 0;
  const isProposal = proposalCount > 0 && proposalCount === changingFlags.length;

  if (results !== undefined) return <Results results={results} onClose={onClose} />;
  const isReady = selected.data !== undefined && areProtectionsRead && (!needsTag || tagMatch !== null);
  return (
    <Dialog
      title={texts.title(actionWithoutTag)}
      onClose={onClose}
      isAlert={progress !== undefined}
      onSubmit={(event) => {
        event.preventDefault();
        if (isReady && changingFlags.length > 0 && !run.isPending) run.mutate();
      }}
      footer={
        <>
          <Button onPress={onClose} isDisabled={progress !== undefined}>
            Cancel
          </Button>
          <Button
            type="submit"
            variant={actionWithoutTag.kind === 'archive' && !isProposal ? 'danger' : 'primary'}
            isDisabled={!isReady || changingFlags.length === 0}
            isPending={progress !== undefined}
          >
            {isProposal
              ? `Propose for ${formatCount(proposalCount, 'flag')}`
              : texts.run(actionWithoutTag, isReady ? changingFlags.length : source.count)}
          </Button>
        </>
      }
    >
      {needsTag && (
        <TextField
          label="Tag"
          hint="Its type and value, as in team:web"
          value={tagText}
          onChange={setTagText}
          autoFocus
          {...(tagText !== '' && tagMatch === null ? { error: 'Write type:value, each of 2 to 50 characters.' } : {})}
        />
      )}
      <ErrorNotice error={selected.error} retry={() => void selected.refetch()} />
      {selected.data === undefined && selected.error === null && <Loading />}
      {selected.data !== undefined && (!needsTag || tagMatch !== null) && (
        <>
          <div role="status">
            <p>
              {changingFlags.length === 0
                ? 'No flag changes.'
                : `${formatCount(changingFlags.length, 'flag')} in ${formatCount(projectsOf(changingFlags).length, 'project')} will change:`}
            </p>
            {source.count > flags.length && (
              <p>
                {formatCount(source.count - flags.length, 'selected flag')}{' '}
                {source.count - flags.length === 1 ? 'is' : 'are'} no longer in this list: archived, moved or changed
                meanwhile.
              </p>
            )}
            {unchangedFlags.length > 0 && (
              <p className={layout['muted']}>
                {formatCount(unchangedFlags.length, 'flag')} {unchangedFlags.length === 1 ? 'is' : 'are'} like that
                already.
              </p>
            )}
            {impossibleFlags.length > 0 && (
              <p className={layout['muted']}>
                {actionWithoutTag.kind === 'archive'
                  ? `${formatCount(impossibleFlags.length, 'flag')} cannot be archived: other flags depend on them, or they are archived already.`
                  : `${formatCount(impossibleFlags.length, 'flag')} cannot be changed: archived, or not in this environment.`}
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
                {progress} of {formatCount(changingFlags.length, 'flag')} done…
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
          {actionWithoutTag.kind === 'archive' && <StillAskedFor flags={changingFlags} />}
          {changingFlags.length > 0 && <Names flags={changingFlags} />}
        </>
      )}
    </Dialog>
  );
}
