import { useState } from 'react';
import { Button } from '../../components/buttons/button.tsx';
import { Dialog } from '../../components/dialogs/dialog.tsx';
import { RadioGroup } from '../../components/forms/fields.tsx';
import { strategyMessages } from '../../messages/strategy.ts';
import { type MergeConflict, resolveConflicts } from '../../merging/three-way-merge.ts';
import type { Json } from '../../merging/json.ts';
import styles from './strategy.module.css';

interface MergeDialogProps {
  readonly merged: Json;
  readonly conflicts: readonly MergeConflict[];
  readonly onMerge: (value: Json) => void;
  readonly onClose: () => void;
}

const formatValue = (value: Json | undefined): string =>
  value === undefined ? strategyMessages.removed : typeof value === 'string' ? value : JSON.stringify(value);

/** Fields that the user and another person changed in different ways: one is chosen for each. */
export const MergeDialog = ({ merged, conflicts, onMerge, onClose }: MergeDialogProps) => {
  const [choices, setChoices] = useState<readonly ('mine' | 'theirs')[]>(conflicts.map(() => 'mine'));
  return (
    <Dialog
      title={strategyMessages.mergeTitle}
      onClose={onClose}
      isWide
      footer={
        <>
          <Button onPress={onClose}>{strategyMessages.backToEditing}</Button>
          <Button variant="primary" onPress={() => onMerge(resolveConflicts(merged, conflicts, choices))}>
            {strategyMessages.merge}
          </Button>
        </>
      }
    >
      <p>{strategyMessages.mergeHelp}</p>
      <div className={styles['form']}>
        {conflicts.map(({ path, base, mine, theirs }, at) => (
          <div key={path.join('/')} className={styles['item']}>
            <RadioGroup
              label={path.join(' › ')}
              hint={strategyMessages.was(formatValue(base))}
              options={[
                { id: 'mine', label: strategyMessages.mine, about: formatValue(mine) },
                { id: 'theirs', label: strategyMessages.theirs, about: formatValue(theirs) },
              ]}
              value={choices[at] ?? 'mine'}
              onChange={(choice) => setChoices(choices.with(at, choice as 'mine' | 'theirs'))}
            />
          </div>
        ))}
      </div>
    </Dialog>
  );
};
