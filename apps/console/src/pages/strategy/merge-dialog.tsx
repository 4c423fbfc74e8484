import { useState } from 'react';
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { RadioGroup } from '../../components/fields.tsx';
import { messages } from '../../messages.ts';
import { type Json, type MergeConflict, withChoices } from '../../strategies/three-way-merge.ts';
import styles from './strategy.module.css';

interface MergeDialogProps {
  readonly merged: Json;
  readonly conflicts: readonly MergeConflict[];
  readonly onMerge: (value: Json) => void;
  readonly onClose: () => void;
}

const shown = (value: Json | undefined): string =>
  value === undefined ? messages.strategy.removed : typeof value === 'string' ? value : JSON.stringify(value);

/** Fields that the user and somebody else changed in different ways: one is chosen for each. */
export const MergeDialog = ({ merged, conflicts, onMerge, onClose }: MergeDialogProps) => {
  const [choices, setChoices] = useState<readonly ('mine' | 'theirs')[]>(conflicts.map(() => 'mine'));
  return (
    <Dialog
      title={messages.strategy.mergeTitle}
      onClose={onClose}
      isWide
      footer={
        <>
          <Button onPress={onClose}>{messages.strategy.backToEditing}</Button>
          <Button variant="primary" onPress={() => onMerge(withChoices(merged, conflicts, choices))}>
            {messages.strategy.merge}
          </Button>
        </>
      }
    >
      <p>{messages.strategy.mergeHelp}</p>
      <div className={styles['form']}>
        {conflicts.map(({ path, base, mine, theirs }, at) => (
          <div key={path.join('/')} className={styles['item']}>
            <RadioGroup
              label={path.join(' › ')}
              hint={messages.strategy.was(shown(base))}
              options={[
                { id: 'mine', label: messages.strategy.mine, about: shown(mine) },
                { id: 'theirs', label: messages.strategy.theirs, about: shown(theirs) },
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
