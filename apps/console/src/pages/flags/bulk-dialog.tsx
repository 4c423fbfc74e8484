import { ValidateArchive } from '@bunting/contracts';
import { useMutation, useQueries, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { call } from '../../api/call.ts';
import { Button } from '../../components/buttons/button.tsx';
import { ErrorNotice, Notice } from '../../components/content/notice.tsx';
import { Loading } from '../../components/content/query-result.tsx';
import { Dialog } from '../../components/dialogs/dialog.tsx';
import { TextField } from '../../components/forms/fields.tsx';
import { flagsMessages } from '../../messages/flags.ts';
import { explainError } from '../../messages/explain-error.ts';
import { sharedMessages } from '../../messages/shared.ts';
import type { BulkAction } from '../../changes/bulk-action.ts';
import { changeRequestConfigQuery, protectedEnvironmentsOf } from '../../changes/protected-environments.ts';
import { type BulkResult, canBeProposed, proposalEnvironmentOf, runBulkAction } from './run-bulk-action.ts';
import type { SelectedFlag } from './bulk-effect.ts';
import layout from '../../components/layout/layout.module.css';
import styles from './flags.module.css';

const text = flagsMessages.bulk;
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

const projectsOf = (flags: readonly SelectedFlag[]): string[] => [...new Set(flags.map(({ project }) => project))];

/** The maximum number of flags in one request that validates whether they can be archived. */
const flagsPerValidation = 5_000;

/** The names of the flags that cannot be archived, because other flags depend on them. @throws ApiError */
const readParents = async (flags: readonly SelectedFlag[], signal: AbortSignal): Promise<string[]> => {
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
};

const Names = ({ flags }: { readonly flags: readonly SelectedFlag[] }) => (
  <ul className={styles['preview']} aria-label={text.preview}>
    {flags.slice(0, maxShownNames).map(({ name, project }) => (
      <li key={name}>
        <bdi>{name}</bdi>
        <span className={layout['muted']}>{project}</span>
      </li>
    ))}
    {flags.length > maxShownNames && <li className={layout['muted']}>{text.more(flags.length - maxShownNames)}</li>}
  </ul>
);

const Results = ({ results, onClose }: { readonly results: readonly BulkResult[]; readonly onClose: () => void }) => {
  const count = (outcome: BulkResult['outcome']): number =>
    results.filter((result) => result.outcome === outcome).length;
  const refused = results.filter(({ outcome }) => outcome === 'refused');
  const changeRequests = new Map(
    results.flatMap(({ changeRequest, project }) => (changeRequest === undefined ? [] : [[changeRequest, project]])),
  );
  return (
    <Dialog
      title={text.results}
      onClose={onClose}
      footer={<Button onPress={onClose}>{sharedMessages.common.close}</Button>}
    >
      <div role="status">
        {count('done') > 0 && <p>{text.done(count('done'))}</p>}
        {count('proposed') > 0 && <p>{text.proposed(count('proposed'))}</p>}
        {[...changeRequests].map(([id, project]) => (
          <p key={id}>
            <Link to="/projects/$project/change-requests/$id" params={{ project, id: String(id) }}>
              {text.changeRequest(id, project)}
            </Link>
          </p>
        ))}
        {refused.length > 0 && <p>{text.refused(refused.length)}</p>}
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
            <li className={layout['muted']}>{text.more(refused.length - maxShownNames)}</li>
          )}
        </ul>
      )}
    </Dialog>
  );
};

/** Previews which of the selected flags an action would change, runs the action, and shows its result for each flag. */
export const BulkDialog = ({ action: actionWithoutTag, flags: source, onClose }: BulkDialogProps) => {
  const [tagText, setTagText] = useState('');
  const [progress, setProgress] = useState<number | undefined>();
  const [results, setResults] = useState<readonly BulkResult[] | undefined>();
  const tagMatch = /^([^:\s]{2,50}):(.{2,50})$/.exec(tagText.trim());
  const needsTag = actionWithoutTag.kind === 'tag';
  const action: BulkAction =
    actionWithoutTag.kind === 'tag'
      ? { ...actionWithoutTag, tag: { type: tagMatch?.[1] ?? '', value: tagMatch?.[2] ?? '' } }
      : actionWithoutTag;
  const selected = useQuery({
    queryKey: ['bulk', ...source.key, actionWithoutTag.kind],
    queryFn: async ({ signal }) => {
      const flags = await source.read(signal);
      return { flags, parents: actionWithoutTag.kind === 'archive' ? await readParents(flags, signal) : [] };
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
  const [changingFlags, unchangedFlags, impossibleFlags] = [
    flagsWithEffect('changes'),
    flagsWithEffect('unchanged'),
    flagsWithEffect('impossible'),
  ];
  const projects = canBeProposed(action) ? projectsOf(changingFlags) : [];
  const configs = useQueries({ queries: projects.map(changeRequestConfigQuery) });
  const run = useMutation({
    mutationFn: (_: void, { client }) => runBulkAction(changingFlags, action, { client, onProgress: setProgress }),
    onMutate: () => setProgress(0),
    onSuccess: setResults,
  });
  const areProtectionsRead = configs.every(({ isPending }) => !isPending);
  const projectsWithProposal = new Set(
    projects.filter(
      (_, index) => proposalEnvironmentOf(action, protectedEnvironmentsOf(configs[index]?.data ?? [])) !== undefined,
    ),
  );
  const proposalCount = areProtectionsRead
    ? changingFlags.filter(({ project }) => projectsWithProposal.has(project)).length
    : 0;

  if (results !== undefined) return <Results results={results} onClose={onClose} />;
  const isReady = selected.data !== undefined && areProtectionsRead && (!needsTag || tagMatch !== null);
  return (
    <Dialog
      title={text.title(actionWithoutTag)}
      onClose={onClose}
      isAlert={progress !== undefined}
      onSubmit={(event) => {
        event.preventDefault();
        if (isReady && changingFlags.length > 0 && !run.isPending) run.mutate();
      }}
      footer={
        <>
          <Button onPress={onClose} isDisabled={progress !== undefined}>
            {sharedMessages.common.cancel}
          </Button>
          <Button
            type="submit"
            variant={actionWithoutTag.kind === 'archive' ? 'danger' : 'primary'}
            isDisabled={!isReady || changingFlags.length === 0}
            isPending={progress !== undefined}
          >
            {text.run(actionWithoutTag, isReady ? changingFlags.length : source.count)}
          </Button>
        </>
      }
    >
      {needsTag && (
        <TextField
          label={text.tag}
          hint={text.tagHint}
          value={tagText}
          onChange={setTagText}
          autoFocus
          {...(tagText !== '' && tagMatch === null ? { error: text.tagWrong } : {})}
        />
      )}
      {selected.error !== null && <ErrorNotice error={selected.error} retry={() => void selected.refetch()} />}
      {selected.data === undefined && selected.error === null && <Loading />}
      {selected.data !== undefined && (!needsTag || tagMatch !== null) && (
        <>
          <div role="status">
            <p>{text.changes(changingFlags.length, projectsOf(changingFlags).length)}</p>
            {unchangedFlags.length > 0 && <p className={layout['muted']}>{text.unchanged(unchangedFlags.length)}</p>}
            {impossibleFlags.length > 0 && (
              <p className={layout['muted']}>{text.impossible(impossibleFlags.length, actionWithoutTag)}</p>
            )}
            {progress !== undefined && <p>{text.progress(progress, changingFlags.length)}</p>}
          </div>
          {proposalCount > 0 && <Notice tone="warning">{text.willPropose(proposalCount, action)}</Notice>}
          {changingFlags.length > 0 && <Names flags={changingFlags} />}
        </>
      )}
    </Dialog>
  );
};
