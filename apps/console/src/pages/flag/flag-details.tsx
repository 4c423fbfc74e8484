import {
  type Feature,
  featureTypes,
  GetFeature,
  ListPossibleParents,
  ListTagTypes,
  UpdateFeature,
  UpdateFeatureTags,
} from '@bunting/contracts';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useForm } from 'react-hook-form';
import { usePermissionCheck } from '../../api/permission-check.ts';
import { operationQuery, useCommand } from '../../api/queries.ts';
import { Button, IconButton } from '../../components/buttons/button.tsx';
import { Badge, ErrorNotice } from '../../components/content/content.tsx';
import { ConfirmDialog, Dialog } from '../../components/dialogs/dialog.tsx';
import { ComboBox, Select, TextField } from '../../components/forms/fields.tsx';
import { FormSelect, FormSwitch, FormText, showServerError } from '../../components/forms/form.tsx';
import { Time } from '../../components/content/time.tsx';
import { flagMessages } from '../../messages/flag.ts';
import { messages } from '../../messages/shared.ts';
import { notify, notifyError } from '../../shell/toasts.tsx';
import { useApplyChanges } from '../../strategies/apply-change.ts';
import { ProtectionNotice, useProtection } from '../../strategies/protection-notices.tsx';
import { detailDefaults } from './detail-defaults.ts';
import { FlagLifecycle, FlagLinks } from './flag-lifecycle.tsx';
import layout from '../../components/layout/layout.module.css';
import styles from './flag.module.css';

interface DetailsProps {
  readonly feature: Feature;
  readonly project: string;
}

interface DetailsForm {
  readonly description: string;
  readonly type: string;
  readonly stale: boolean;
  readonly impressionData: boolean;
}

const EditDialog = ({ feature, project, onClose }: DetailsProps & { readonly onClose: () => void }) => {
  const update = useCommand(UpdateFeature, [GetFeature]);
  const { control, handleSubmit, setError, formState } = useForm<DetailsForm>({
    defaultValues: {
      description: feature.description ?? '',
      type: feature.type ?? detailDefaults.type,
      stale: feature.stale ?? detailDefaults.stale,
      impressionData: feature.impressionData ?? detailDefaults.impressionData,
    },
  });
  const save = handleSubmit(async (values) => {
    try {
      const params = { projectId: project, featureName: feature.name };
      await update.mutateAsync({ params, body: { ...values, type: values.type as (typeof featureTypes)[number] } });
      notify(flagMessages.saved);
      onClose();
    } catch (error) {
      showServerError(error, ['description', 'type'], setError);
    }
  });
  return (
    <Dialog
      title={flagMessages.editDetails}
      onClose={onClose}
      onSubmit={(event) => void save(event)}
      footer={
        <>
          <Button onPress={onClose}>{messages.common.cancel}</Button>
          <Button type="submit" variant="primary" isPending={update.isPending}>
            {messages.common.save}
          </Button>
        </>
      }
    >
      <div className={layout['denseStack']}>
        <FormText control={control} name="description" label={flagMessages.description} rows={4} autoFocus />
        <FormSelect
          control={control}
          name="type"
          label={flagMessages.type}
          options={featureTypes.map((type) => ({ id: type, label: type }))}
        />
        <FormSwitch control={control} name="stale" label={flagMessages.staleSwitch} />
        <FormSwitch control={control} name="impressionData" label={flagMessages.impressionData} />
        {formState.errors.root?.message !== undefined && (
          <ErrorNotice error={new Error(formState.errors.root.message)} />
        )}
      </div>
    </Dialog>
  );
};

const TagDialog = ({ feature, onClose }: Pick<DetailsProps, 'feature'> & { readonly onClose: () => void }) => {
  const { data } = useQuery({ ...operationQuery(ListTagTypes, {}), staleTime: 60_000 });
  const update = useCommand(UpdateFeatureTags, [GetFeature]);
  const [type, setType] = useState('simple');
  const [value, setValue] = useState('');
  const add = (): void =>
    update.mutate(
      { params: { featureName: feature.name }, body: { addedTags: [{ type, value: value.trim() }], removedTags: [] } },
      { onSuccess: onClose },
    );
  return (
    <Dialog
      title={flagMessages.addTag}
      onClose={onClose}
      onSubmit={(event) => {
        event.preventDefault();
        add();
      }}
      footer={
        <>
          <Button onPress={onClose}>{messages.common.cancel}</Button>
          <Button type="submit" variant="primary" isPending={update.isPending}>
            {messages.common.add}
          </Button>
        </>
      }
    >
      <div className={layout['denseStack']}>
        <Select
          label={flagMessages.tagType}
          options={(data?.tagTypes ?? []).map(({ name, description }) => ({
            id: name,
            label: name,
            about: description ?? undefined,
          }))}
          value={type}
          onChange={setType}
        />
        <TextField label={flagMessages.tagValue} value={value} onChange={setValue} isRequired autoFocus />
        {update.error !== null && <ErrorNotice error={update.error} />}
      </div>
    </Dialog>
  );
};

const ParentDialog = ({ feature, project, onClose }: DetailsProps & { readonly onClose: () => void }) => {
  const params = { projectId: project, featureName: feature.name };
  const { data = [] } = useQuery(operationQuery(ListPossibleParents, { params }));
  const add = useApplyChanges(project);
  const protection = useProtection(project);
  const [parent, setParent] = useState<string | null>(null);
  const [mustBe, setMustBe] = useState('on');
  const addParent = (isDirect: boolean): void =>
    add.mutate(
      {
        environment: protection.environment,
        changes: [
          {
            action: 'addDependency',
            feature: feature.name,
            payload: { feature: parent ?? '', enabled: mustBe === 'on' },
          },
        ],
        isDirect,
      },
      {
        onSuccess: ({ kind }) => {
          if (kind === 'proposed') notify(flagMessages.proposed(protection.environment));
          onClose();
        },
      },
    );
  return (
    <Dialog
      title={flagMessages.addDependency}
      onClose={onClose}
      footer={
        <>
          <Button onPress={onClose}>{messages.common.cancel}</Button>
          <Button
            variant="primary"
            isDisabled={parent === null || protection.isLoading}
            isPending={add.isPending}
            onPress={() => addParent(protection.maySkip)}
          >
            {protection.maySkip ? messages.common.add : flagMessages.propose}
          </Button>
        </>
      }
    >
      <div className={layout['denseStack']}>
        <p>{flagMessages.dependencyHelp}</p>
        <ComboBox
          label={flagMessages.parent}
          options={data.map((name) => ({ id: name, label: name }))}
          value={parent}
          onChange={setParent}
          autoFocus
        />
        <Select
          label={flagMessages.parentMustBe}
          options={[
            { id: 'on', label: flagMessages.on },
            { id: 'off', label: flagMessages.off },
          ]}
          value={mustBe}
          onChange={setMustBe}
        />
        {parent !== null && (
          <ProtectionNotice protection={protection} isPending={add.isPending} onPropose={() => addParent(false)} />
        )}
        {add.error !== null && <ErrorNotice error={add.error} />}
      </div>
    </Dialog>
  );
};

/** What a flag is for, who made it, its tags, and what it depends on. */
export const FlagDetails = ({ feature, project }: DetailsProps) => {
  const { name, description, createdAt, createdBy, impressionData, tags, dependencies = [], children = [] } = feature;
  const [dialog, setDialog] = useState<'edit' | 'tag' | 'parent' | 'no parent' | undefined>();
  const may = usePermissionCheck();
  const isArchived = feature.archived === true;
  const mayEdit = !isArchived && may('UPDATE_FEATURE', { project });
  const mayDepend = !isArchived && may('UPDATE_FEATURE_DEPENDENCY', { project });
  const updateTags = useCommand(UpdateFeatureTags, [GetFeature]);
  const removeParents = useApplyChanges(project);
  const protection = useProtection(project);
  const close = (): void => setDialog(undefined);
  const removeParent = (isDirect: boolean): void =>
    removeParents.mutate(
      { environment: protection.environment, changes: [{ action: 'deleteDependency', feature: name }], isDirect },
      {
        onSuccess: ({ kind }) => {
          close();
          if (kind === 'proposed') notify(flagMessages.proposed(protection.environment));
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
    <aside className={layout['denseStack']} aria-label={flagMessages.details}>
      <section className={styles['section']}>
        <div className={styles['sectionHead']}>
          <h2>{flagMessages.details}</h2>
          {mayEdit && (
            <Button size="small" icon="edit" onPress={() => setDialog('edit')}>
              {messages.common.edit}
            </Button>
          )}
        </div>
        <p dir="auto" className={description ? styles['description'] : layout['small']}>
          {description || flagMessages.noDescription}
        </p>
        <dl className={layout['facts']}>
          <dt>{messages.shell.project}</dt>
          <dd>
            <Link to="/projects/$project/flags" params={{ project }}>
              {project}
            </Link>
          </dd>
          <dt>{flagMessages.created}</dt>
          <dd>
            <Time at={createdAt} isAbsolute />
          </dd>
          {createdBy?.name != null && (
            <>
              <dt>{flagMessages.owner}</dt>
              <dd>{createdBy.name}</dd>
            </>
          )}
          <dt>{flagMessages.impressionData}</dt>
          <dd>{impressionData === true ? flagMessages.on : flagMessages.off}</dd>
        </dl>
      </section>
      <section className={styles['section']}>
        <div className={styles['sectionHead']}>
          <h3>{flagMessages.tags}</h3>
          {mayEdit && (
            <IconButton icon="add" size="small" label={flagMessages.addTag} onPress={() => setDialog('tag')} />
          )}
        </div>
        <ul className={styles['marks']}>
          {(tags ?? []).map((tag) => (
            <li key={`${tag.type}:${tag.value}`} className={styles['marks']}>
              <Badge>
                <bdi>
                  {tag.type}:{tag.value}
                </bdi>
              </Badge>
              {mayEdit && (
                <IconButton
                  icon="close"
                  size="small"
                  label={flagMessages.removeTag(`${tag.type}:${tag.value}`)}
                  onPress={() =>
                    updateTags.mutate(
                      { params: { featureName: name }, body: { addedTags: [], removedTags: [tag] } },
                      { onError: notifyError },
                    )
                  }
                />
              )}
            </li>
          ))}
        </ul>
        {(tags ?? []).length === 0 && <p className={layout['small']}>{flagMessages.noTags}</p>}
      </section>
      <section className={styles['section']}>
        <div className={styles['sectionHead']}>
          <h3>{flagMessages.dependencies}</h3>
          {mayDepend && dependencies.length === 0 && children.length === 0 && (
            <IconButton
              icon="add"
              size="small"
              label={flagMessages.addDependency}
              onPress={() => setDialog('parent')}
            />
          )}
          {mayDepend && dependencies.length > 0 && (
            <IconButton
              icon="remove"
              size="small"
              label={flagMessages.removeDependency}
              isDisabled={protection.isLoading}
              onPress={() => (protection.environments.length > 0 ? setDialog('no parent') : removeParent(false))}
            />
          )}
        </div>
        {dependencies.map(({ feature: parent, enabled, variants = [] }) => (
          <p key={parent}>
            {flagMessages.dependsOn} {flagLink(parent)}{' '}
            {variants.length > 0 ? flagMessages.withVariants(variants) : enabled === false && flagMessages.beingOff}
          </p>
        ))}
        {children.length > 0 && (
          <p>
            {flagMessages.neededBy}{' '}
            {children.map((child, nth) => (
              <span key={child}>
                {nth > 0 && ', '}
                {flagLink(child)}
              </span>
            ))}
          </p>
        )}
        {dependencies.length + children.length === 0 && (
          <p className={layout['small']}>{flagMessages.noDependencies}</p>
        )}
      </section>
      <FlagLifecycle feature={feature} project={project} />
      <FlagLinks feature={feature} />
      {dialog === 'edit' && <EditDialog feature={feature} project={project} onClose={close} />}
      {dialog === 'tag' && <TagDialog feature={feature} onClose={close} />}
      {dialog === 'no parent' && (
        <ConfirmDialog
          title={flagMessages.removeDependency}
          confirm={protection.maySkip ? flagMessages.remove : flagMessages.propose}
          isPending={removeParents.isPending}
          onClose={close}
          onConfirm={() => removeParent(protection.maySkip)}
        >
          <p>{flagMessages.removeDependencyHelp(name)}</p>
          <ProtectionNotice
            protection={protection}
            isPending={removeParents.isPending}
            onPropose={() => removeParent(false)}
          />
        </ConfirmDialog>
      )}
      {dialog === 'parent' && <ParentDialog feature={feature} project={project} onClose={close} />}
    </aside>
  );
};
