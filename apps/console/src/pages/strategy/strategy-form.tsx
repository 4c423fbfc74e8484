import { Link } from '@tanstack/react-router';
import { lazy, Suspense } from 'react';
import { Button, buttonClass } from '../../components/buttons/button.tsx';
import { ErrorNotice, Notice } from '../../components/content/notice.tsx';
import { Loading } from '../../components/content/query-result.tsx';
import { Switch, TextField } from '../../components/forms/fields.tsx';
import { SkipChangeRequestNotice } from '../../changes/protection-notices.tsx';
import type { EditProtection } from '../../changes/use-edit-protection.ts';
import { ConstraintsEditor } from './constraints-editor.tsx';
import { SegmentPicker } from './segment-picker.tsx';
import type { StrategyEdit, StrategyLocation } from './use-strategy-edit.ts';
import { StrategyTypeFields } from './strategy-type-fields.tsx';
import layout from '../../components/layout/layout.module.css';
import styles from './strategy.module.css';

const VariantsEditor = lazy(() =>
  import('./variants-editor.tsx').then(({ VariantsEditor: component }) => ({ default: component })),
);

interface StrategyFormProps {
  readonly strategyLocation: StrategyLocation;
  readonly strategyEdit: StrategyEdit;
  readonly protection: EditProtection;
}

/** The fields of a strategy, and the buttons that save it or, in a protected environment, propose it. */
export const StrategyForm = ({
  strategyLocation: { project, feature },
  strategyEdit,
  protection,
}: StrategyFormProps) => {
  const { draft, edit, save, isChanged, isPending, error } = strategyEdit;
  return (
    <form
      className={styles['form']}
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
    >
      {strategyEdit.wasMerged && (
        <Notice tone="warning">
          Another person has saved this strategy meanwhile. Both edits are combined here: check them, and save again.
        </Notice>
      )}
      <section className={layout['card']}>
        <TextField
          label="Title"
          hint="Optional: why this strategy exists."
          value={draft.title}
          onChange={(title) => edit({ ...draft, title })}
        />
        <Switch isSelected={!draft.disabled} onChange={(on) => edit({ ...draft, disabled: !on })}>
          Active
        </Switch>
      </section>
      <StrategyTypeFields draft={draft} onChange={edit} />
      <SegmentPicker draft={draft} onChange={edit} />
      <ConstraintsEditor constraints={draft.constraints} onChange={(constraints) => edit({ ...draft, constraints })} />
      <Suspense fallback={<Loading />}>
        <VariantsEditor
          variants={draft.variants}
          stickiness={draft.parameters['stickiness'] ?? 'default'}
          onChange={(variants) => edit({ ...draft, variants })}
        />
      </Suspense>
      {error !== null && <ErrorNotice error={error} />}
      <SkipChangeRequestNotice
        protection={protection}
        isPending={isPending}
        isDisabled={!isChanged}
        label="Save directly"
        onDirect={() => void save(true)}
      />
      <div className={layout['actions']}>
        <Button type="submit" variant="primary" isPending={isPending} isDisabled={!isChanged}>
          {protection.environments.length > 0 ? 'Propose' : 'Save'}
        </Button>
        <Link to="/projects/$project/features/$feature" params={{ project, feature }} className={buttonClass()}>
          Cancel
        </Link>
      </div>
    </form>
  );
};
