import { SearchFeatures, ValidateArchive } from '@bunting/contracts';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { call } from '../../api/call.ts';
import { Button } from '../../components/button.tsx';
import { ErrorNotice, Loading, Notice } from '../../components/content.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { TextField } from '../../components/fields.tsx';
import { messages } from '../../messages.ts';
import { type BulkAction, type BulkFlag, type BulkResult, effectOn, readSelected, runBulk } from './bulk.ts';
import type { SearchQuery } from './filter.ts';
import { useProtections } from './protection.ts';
import { countOf, type Selection } from './selection.ts';
import styles from './flags.module.css';

const text = messages.flags.bulk;
/** Names that a preview shows; the rest is counted. */
const shownNames = 200;

interface BulkDialogProps {
  readonly action: BulkAction;
  readonly selection: Selection;
  readonly query: SearchQuery;
  readonly total: number;
  readonly onClose: () => void;
}

const projectsOf = (flags: readonly BulkFlag[]): string[] => [...new Set(flags.map(({ project }) => project))];

/** Flags on which others depend, which cannot be archived before them. */
const readParents = async (flags: readonly BulkFlag[], signal: AbortSignal): Promise<string[]> => {
  const answers = await Promise.all(
    projectsOf(flags).map((projectId) => {
      const features = flags.filter(({ project }) => project === projectId).map(({ name }) => name);
      return call(ValidateArchive, { params: { projectId }, body: { features }, signal });
    }),
  );
  return answers.flatMap(({ parentsWithChildFeatures }) => parentsWithChildFeatures);
};

const Names = ({ flags }: { readonly flags: readonly BulkFlag[] }) => (
  <ul className={styles['preview']} aria-label={text.preview}>
    {flags.slice(0, shownNames).map(({ name, project }) => (
      <li key={name}>
        <bdi>{name}</bdi>
        <span className={styles['muted']}>{project}</span>
      </li>
    ))}
    {flags.length > shownNames && <li className={styles['muted']}>{text.more(flags.length - shownNames)}</li>}
  </ul>
);

const Results = ({ results, onClose }: { readonly results: readonly BulkResult[]; readonly onClose: () => void }) => {
  const count = (outcome: BulkResult['outcome']): number => results.filter((one) => one.outcome === outcome).length;
  const refused = results.filter(({ outcome }) => outcome === 'refused');
  return (
    <Dialog title={text.results} onClose={onClose} footer={<Button onPress={onClose}>{messages.common.close}</Button>}>
      <div role="status">
        {count('done') > 0 && <p>{text.done(count('done'))}</p>}
        {count('proposed') > 0 && <p>{text.proposed(count('proposed'))}</p>}
        {refused.length > 0 && <p>{text.refused(refused.length)}</p>}
      </div>
      {refused.length > 0 && (
        <ul className={styles['preview']}>
          {refused.slice(0, shownNames).map(({ name, error }) => (
            <li key={name}>
              <bdi>{name}</bdi>
              <span className={styles['muted']}>{messages.errors.explain(error)}</span>
            </li>
          ))}
          {refused.length > shownNames && <li className={styles['muted']}>{text.more(refused.length - shownNames)}</li>}
        </ul>
      )}
    </Dialog>
  );
};

/** Shows what an action would change before it runs, and what became of each flag afterwards. */
export const BulkDialog = ({ action: given, selection, query, total, onClose }: BulkDialogProps) => {
  const client = useQueryClient();
  const [tagText, setTagText] = useState('');
  const [progress, setProgress] = useState<number | undefined>();
  const [results, setResults] = useState<readonly BulkResult[] | undefined>();
  const tagMatch = /^([^:\s]{2,50}):(.{2,50})$/.exec(tagText.trim());
  const needsTag = given.kind === 'tag';
  const action: BulkAction =
    given.kind === 'tag' ? { ...given, tag: { type: tagMatch?.[1] ?? '', value: tagMatch?.[2] ?? '' } } : given;
  const selected = useQuery({
    queryKey: ['bulk', query, selection, given.kind],
    queryFn: async ({ signal }) => {
      const flags = await readSelected(query, selection, signal, () => undefined);
      return { flags, parents: given.kind === 'archive' ? await readParents(flags, signal) : [] };
    },
    gcTime: 0,
    staleTime: Number.POSITIVE_INFINITY,
  });
  const flags = selected.data?.flags ?? [];
  const parents = new Set(selected.data?.parents ?? []);
  const effects = flags.map((flag) => ({
    flag,
    effect: parents.has(flag.name) ? 'impossible' : effectOn(flag, action),
  }));
  const of = (effect: string): BulkFlag[] => effects.filter((one) => one.effect === effect).map(({ flag }) => flag);
  const [changing, unchanged, impossible] = [of('changes'), of('unchanged'), of('impossible')];
  const protections = useProtections(action.kind === 'switch' ? projectsOf(changing) : []);
  const toPropose =
    action.kind === 'switch'
      ? changing.filter(({ project }) => protections?.(project, action.environment) === true).length
      : 0;

  const run = async (): Promise<void> => {
    setProgress(0);
    const isProtected = protections ?? (() => false);
    setResults(await runBulk(changing, action, { isProtected, onProgress: setProgress }));
    await client.invalidateQueries({ queryKey: [SearchFeatures.operationId] });
  };

  if (results !== undefined) return <Results results={results} onClose={onClose} />;
  const isReady = selected.data !== undefined && protections !== undefined && (!needsTag || tagMatch !== null);
  return (
    <Dialog
      title={text.title(given)}
      onClose={onClose}
      isAlert={progress !== undefined}
      onSubmit={(event) => {
        event.preventDefault();
        if (isReady && changing.length > 0 && progress === undefined) void run();
      }}
      footer={
        <>
          <Button onPress={onClose} isDisabled={progress !== undefined}>
            {messages.common.cancel}
          </Button>
          <Button
            type="submit"
            variant={given.kind === 'archive' ? 'danger' : 'primary'}
            isDisabled={!isReady || changing.length === 0}
            isPending={progress !== undefined}
          >
            {text.run(given, isReady ? changing.length : countOf(selection, total))}
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
            <p>{text.changes(changing.length, projectsOf(changing).length)}</p>
            {unchanged.length > 0 && <p className={styles['muted']}>{text.unchanged(unchanged.length)}</p>}
            {impossible.length > 0 && <p className={styles['muted']}>{text.impossible(impossible.length, given)}</p>}
            {progress !== undefined && <p>{text.progress(progress, changing.length)}</p>}
          </div>
          {toPropose > 0 && <Notice tone="warning">{text.willPropose(toPropose)}</Notice>}
          {changing.length > 0 && <Names flags={changing} />}
        </>
      )}
    </Dialog>
  );
};
