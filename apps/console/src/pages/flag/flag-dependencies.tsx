import { type Feature, ListPossibleParents } from '@bunting/contracts';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { operationQuery } from '../../api/queries-and-mutations.ts';
import { Button, IconButton } from '../../components/buttons/button.tsx';
import { ErrorNotice } from '../../components/content/notice.tsx';
import { ConfirmDialog, Dialog } from '../../components/dialogs/dialog.tsx';
import { ComboBox, Select } from '../../components/forms/selects.tsx';
import { notifyError } from '../../shell/toasts.tsx';
import { notifySubmitted, useSubmitChanges } from '../../changes/submit-changes.ts';
import { ProtectionNotice, useEditProtection, useMayEdit } from '../../changes/edit-protection.tsx';
import layout from '../../components/layout/layout.module.css';
import styles from './flag.module.css';

interface FlagDependenciesProps {
  readonly feature: Feature;
  readonly project: string;
}

function AddParentDialog({ feature, project, onClose }: FlagDependenciesProps & { readonly onClose: () => void }) {
  const params = { projectId: project, featureName: feature.name };
  const { data = [] } = useQuery(operationQuery(ListPossibleParents, { params }));
  const addition = useSubmitChanges(project);
  const protection = useEditProtection(project);
  const [parent, setParent] = useState<string | null>(null);
  const [requiredState, setRequiredState] = useState('on');
  const addParent = (isDirect: boolean): void =>
    addition.mutate(
      {
        changes: [
          {
            action: 'addDependency',
            feature: feature.name,
            payload: { feature: parent ?? '', enabled: requiredState === 'on' },
          },
        ],
        isDirect,
      },
      {
        onSuccess: (outcome) => {
          notifySubmitted(outcome, `It depends on ${parent ?? ''} now.`);
          onClose();
        },
      },
    );
  return (
    <Dialog
      title="Add a dependency"
      onClose={onClose}
      footer={
        <>
          <Button onPress={onClose}>Cancel</Button>
          <Button
            variant="primary"
            isDisabled={parent === null || protection.isLoading}
            isPending={addition.isPending}
            onPress={() => addParent(protection.isDirect)}
          >
            {protection.maySkip ? 'Add' : 'Propose'}
          </Button>
        </>
      }
    >
      <div className={layout['denseStack']}>
        <p>A flag is off for every user for whom the flag that it depends on is not as it must be.</p>
        <ComboBox
          label="Flag"
          options={data.map((name) => ({ id: name, label: name }))}
          value={parent}
          onChange={setParent}
          autoFocus
        />
        <Select
          label="It must be"
          options={[
            { id: 'on', label: 'on' },
            { id: 'off', label: 'off' },
          ]}
          value={requiredState}
          onChange={setRequiredState}
        />
        {parent !== null && (
          <ProtectionNotice protection={protection} isPending={addition.isPending} onPropose={() => addParent(false)} />
        )}
        <ErrorNotice error={addition.error} />
      </div>
    </Dialog>
  );
}

/** The parent flag that a flag depends on, and the flags that depend on the flag. */
export function FlagDependencies({ feature, project }: FlagDependenciesProps) {
  const { name, archived = false, dependencies = [], children = [] } = feature;
  const [dialog, setDialog] = useState<'add' | 'remove' | undefined>();
  const mayEditDependency = useMayEdit(project)('UPDATE_FEATURE_DEPENDENCY') && !archived;
  const removal = useSubmitChanges(project);
  const protection = useEditProtection(project);
  const close = (): void => setDialog(undefined);
  const removeParent = (isDirect: boolean): void =>
    removal.mutate(
      { changes: [{ action: 'deleteDependency', feature: name }], isDirect },
      {
        onSuccess: (outcome) => {
          close();
          notifySubmitted(outcome, 'It depends on no other flag any more.');
        },
        onError: notifyError,
      },
    );
  const flagLink = (other: string) => (
    <Link to="/projects/$project/features/$feature" params={{ project, feature: other }}>
      {other}
    </Link>
  );
  return (
    <section className={styles['section']}>
      <div className={styles['sectionHead']}>
        <h3>Dependencies</h3>
        {mayEditDependency && dependencies.length === 0 && children.length === 0 && (
          <IconButton icon="add" size="small" label="Add a dependency" onPress={() => setDialog('add')} />
        )}
        {mayEditDependency && dependencies.length > 0 && (
          <IconButton
            icon="remove"
            size="small"
            label="Remove the dependency"
            isDisabled={protection.isLoading}
            onPress={() => (protection.environments.length > 0 ? setDialog('remove') : removeParent(false))}
          />
        )}
      </div>
      {dependencies.map(({ feature: parent, enabled, variants = [] }) => (
        <p key={parent}>
          Depends on {flagLink(parent)}{' '}
          {variants.length > 0 ? `(as ${variants.join(' or ')})` : enabled === false && '(must be off)'}
        </p>
      ))}
      {children.length > 0 && (
        <p>
          Needed by{' '}
          {children.map((child, index) => (
            <span key={child}>
              {index > 0 && ', '}
              {flagLink(child)}
            </span>
          ))}
        </p>
      )}
      {dependencies.length + children.length === 0 && <p className={layout['small']}>It depends on no other flag.</p>}
      {dialog === 'add' && <AddParentDialog feature={feature} project={project} onClose={close} />}
      {dialog === 'remove' && (
        <ConfirmDialog
          title="Remove the dependency"
          confirm={protection.maySkip ? 'Remove' : 'Propose'}
          isPending={removal.isPending}
          onClose={close}
          onConfirm={() => removeParent(protection.isDirect)}
        >
          <p>{name} is then on wherever its own settings say so.</p>
          <ProtectionNotice
            protection={protection}
            isPending={removal.isPending}
            onPropose={() => removeParent(false)}
          />
        </ConfirmDialog>
      )}
    </section>
  );
}
