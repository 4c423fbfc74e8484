import { type MergeConflict, resolveConflicts, type Json } from '@bunting/contracts';
import { useState } from 'react';
import { Button } from '../buttons/button.tsx';
import { PersonName } from '../content/person-name.tsx';
import { Time } from '../content/time.tsx';
import { pathWords } from '../../text/field-words.ts';
import { Dialog } from './dialog.tsx';
import { RadioGroup } from '../forms/radio-group.tsx';
import layout from '../layout/layout.module.css';
import styles from './merge-conflict-dialog.module.css';

export interface MergeConflictDialogProps {
  readonly merged: Json;
  readonly conflicts: readonly MergeConflict[];
  /** who has saved the other values, and when */
  readonly savedBy?:
    | { readonly createdBy: string; readonly createdByUserId?: number | null | undefined; readonly at: string }
    | undefined;
  readonly onMerge: (value: Json) => void;
  readonly onClose: () => void;
}

function formatValue(value: Json | undefined, path: MergeConflict['path']): string {
  if (value === undefined) return 'removed';
  if (path.join('/') === 'parameters/rollout') return `${String(value)} %`;
  if (path[0] === 'variants' && path.at(-1) === 'weight') return `${Number(value) / 10} %`;
  if (value === null || value === '' || (Array.isArray(value) && value.length === 0)) return 'nothing';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** Lists the fields that the user and another person changed in different ways; the user chooses one of both values for each. */
export function MergeConflictDialogImplementation({
  merged,
  conflicts,
  savedBy,
  onMerge,
  onClose,
}: MergeConflictDialogProps) {
  const [choices, setChoices] = useState<readonly ('mine' | 'theirs')[]>(conflicts.map(() => 'mine'));
  return (
    <Dialog
      title="You both changed the same fields"
      onClose={onClose}
      isWide
      footer={
        <>
          <Button onPress={onClose}>Back to editing</Button>
          <Button variant="primary" onPress={() => onMerge(resolveConflicts(merged, conflicts, choices))}>
            Use these values
          </Button>
        </>
      }
    >
      <p>
        {savedBy === undefined ? (
          'Another person has saved this since you opened it.'
        ) : (
          <>
            <PersonName id={savedBy.createdByUserId} login={savedBy.createdBy} /> saved this <Time at={savedBy.at} />,
            after you had opened it.
          </>
        )}{' '}
        Fields that only one of you changed are combined. Choose for the others.
      </p>
      <div className={layout['stack']}>
        {conflicts.map(({ path, base, mine, theirs }, index) => (
          <div key={path.join('/')} className={styles['conflict']}>
            <RadioGroup
              label={pathWords(path)}
              hint={`It was: ${formatValue(base, path)}`}
              options={[
                { id: 'mine', label: 'Mine', description: formatValue(mine, path) },
                {
                  id: 'theirs',
                  label: 'Theirs',
                  description: formatValue(theirs, path),
                },
              ]}
              value={choices[index] ?? 'mine'}
              onChange={(choice) => setChoices(choices.with(index, choice as 'mine' | 'theirs'))}
            />
          </div>
        ))}
      </div>
    </Dialog>
  );
}
