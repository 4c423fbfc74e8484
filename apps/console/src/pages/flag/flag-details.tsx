import {
  AddDependency,
  type Feature,
  featureTypes,
  GetFeature,
  ListPossibleParents,
  ListTagTypes,
  RemoveDependencies,
  UpdateFeature,
  UpdateFeatureTags,
} from '@bunting/contracts';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useForm } from 'react-hook-form';
import { useMay } from '../../api/permissions.ts';
import { read, useCommand } from '../../api/queries.ts';
import { Button, IconButton } from '../../components/button.tsx';
import { Badge, ErrorNotice } from '../../components/content.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { ComboBox, Select, TextField } from '../../components/fields.tsx';
import { FormSelect, FormSwitch, FormText, showServerError } from '../../components/form.tsx';
import { Time } from '../../components/time.tsx';
import { messages } from '../../messages.ts';
import { notify, notifyError } from '../../shell/toasts.tsx';
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
      type: feature.type ?? 'release',
      stale: feature.stale ?? false,
      impressionData: feature.impressionData ?? false,
    },
  });
  const save = handleSubmit(async (values) => {
    try {
      const params = { projectId: project, featureName: feature.name };
      await update.mutateAsync({ params, body: { ...values, type: values.type as (typeof featureTypes)[number] } });
      notify(messages.flag.saved);
      onClose();
    } catch (error) {
      showServerError(error, ['description', 'type'], setError);
    }
  });
  return (
    <Dialog
      title={messages.flag.editDetails}
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
      <div className={styles['stack']}>
        <FormText control={control} name="description" label={messages.flag.description} rows={4} autoFocus />
        <FormSelect
          control={control}
          name="type"
          label={messages.flag.type}
          options={featureTypes.map((type) => ({ id: type, label: type }))}
        />
        <FormSwitch control={control} name="stale" label={messages.flag.staleSwitch} />
        <FormSwitch control={control} name="impressionData" label={messages.flag.impressionData} />
        {formState.errors.root?.message !== undefined && (
          <ErrorNotice error={new Error(formState.errors.root.message)} />
        )}
      </div>
    </Dialog>
  );
};

const TagDialog = ({ feature, onClose }: Pick<DetailsProps, 'feature'> & { readonly onClose: () => void }) => {
  const { data } = useQuery({ ...read(ListTagTypes, {}), staleTime: 60_000 });
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
      title={messages.flag.addTag}
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
      <div className={styles['stack']}>
        <Select
          label={messages.flag.tagType}
          options={(data?.tagTypes ?? []).map(({ name, description }) => ({
            id: name,
            label: name,
            about: description ?? undefined,
          }))}
          value={type}
          onChange={setType}
        />
        <TextField label={messages.flag.tagValue} value={value} onChange={setValue} isRequired autoFocus />
        {update.error !== null && <ErrorNotice error={update.error} />}
      </div>
    </Dialog>
  );
};

const ParentDialog = ({ feature, project, onClose }: DetailsProps & { readonly onClose: () => void }) => {
  const params = { projectId: project, featureName: feature.name };
  const { data = [] } = useQuery(read(ListPossibleParents, { params }));
  const add = useCommand(AddDependency, [GetFeature]);
  const [parent, setParent] = useState<string | null>(null);
  const [mustBe, setMustBe] = useState('on');
  return (
    <Dialog
      title={messages.flag.addDependency}
      onClose={onClose}
      footer={
        <>
          <Button onPress={onClose}>{messages.common.cancel}</Button>
          <Button
            variant="primary"
            isDisabled={parent === null}
            isPending={add.isPending}
            onPress={() =>
              add.mutate({ params, body: { feature: parent ?? '', enabled: mustBe === 'on' } }, { onSuccess: onClose })
            }
          >
            {messages.common.add}
          </Button>
        </>
      }
    >
      <div className={styles['stack']}>
        <p>{messages.flag.dependencyHelp}</p>
        <ComboBox
          label={messages.flag.parent}
          options={data.map((name) => ({ id: name, label: name }))}
          value={parent}
          onChange={setParent}
          autoFocus
        />
        <Select
          label={messages.flag.parentMustBe}
          options={[
            { id: 'on', label: messages.flag.on },
            { id: 'off', label: messages.flag.off },
          ]}
          value={mustBe}
          onChange={setMustBe}
        />
        {add.error !== null && <ErrorNotice error={add.error} />}
      </div>
    </Dialog>
  );
};

/** What a flag is for, who made it, its tags, and what it depends on. */
export const FlagDetails = ({ feature, project }: DetailsProps) => {
  const { name, description, createdAt, createdBy, impressionData, tags, dependencies = [], children = [] } = feature;
  const [dialog, setDialog] = useState<'edit' | 'tag' | 'parent' | undefined>();
  const may = useMay();
  const isArchived = feature.archived === true;
  const mayEdit = !isArchived && may('UPDATE_FEATURE', { project });
  const mayDepend = !isArchived && may('UPDATE_FEATURE_DEPENDENCY', { project });
  const updateTags = useCommand(UpdateFeatureTags, [GetFeature]);
  const removeParents = useCommand(RemoveDependencies, [GetFeature]);
  const close = (): void => setDialog(undefined);
  const flagLink = (other: string) => (
    <Link to="/projects/$project/features/$feature" params={{ project, feature: other }}>
      {other}
    </Link>
  );
  return (
    <aside className={styles['stack']} aria-label={messages.flag.details}>
      <section className={styles['section']}>
        <div className={styles['sectionHead']}>
          <h2>{messages.flag.details}</h2>
          {mayEdit && (
            <Button size="small" icon="edit" onPress={() => setDialog('edit')}>
              {messages.common.edit}
            </Button>
          )}
        </div>
        <p dir="auto" className={description ? styles['description'] : styles['muted']}>
          {description || messages.flag.noDescription}
        </p>
        <dl className={styles['facts']}>
          <dt>{messages.shell.project}</dt>
          <dd>
            <Link to="/projects/$project/flags" params={{ project }}>
              {project}
            </Link>
          </dd>
          <dt>{messages.flag.created}</dt>
          <dd>
            <Time at={createdAt} isAbsolute />
          </dd>
          {createdBy?.name != null && (
            <>
              <dt>{messages.flag.owner}</dt>
              <dd>{createdBy.name}</dd>
            </>
          )}
          <dt>{messages.flag.impressionData}</dt>
          <dd>{impressionData === true ? messages.flag.on : messages.flag.off}</dd>
        </dl>
      </section>
      <section className={styles['section']}>
        <div className={styles['sectionHead']}>
          <h3>{messages.flag.tags}</h3>
          {mayEdit && (
            <IconButton icon="add" size="small" label={messages.flag.addTag} onPress={() => setDialog('tag')} />
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
                  label={messages.flag.removeTag(`${tag.type}:${tag.value}`)}
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
        {(tags ?? []).length === 0 && <p className={styles['muted']}>{messages.flag.noTags}</p>}
      </section>
      <section className={styles['section']}>
        <div className={styles['sectionHead']}>
          <h3>{messages.flag.dependencies}</h3>
          {mayDepend && dependencies.length === 0 && children.length === 0 && (
            <IconButton
              icon="add"
              size="small"
              label={messages.flag.addDependency}
              onPress={() => setDialog('parent')}
            />
          )}
          {mayDepend && dependencies.length > 0 && (
            <IconButton
              icon="remove"
              size="small"
              label={messages.flag.removeDependency}
              onPress={() =>
                removeParents.mutate({ params: { projectId: project, featureName: name } }, { onError: notifyError })
              }
            />
          )}
        </div>
        {dependencies.map(({ feature: parent, enabled, variants = [] }) => (
          <p key={parent}>
            {messages.flag.dependsOn} {flagLink(parent)}{' '}
            {variants.length > 0 ? messages.flag.withVariants(variants) : enabled === false && messages.flag.beingOff}
          </p>
        ))}
        {children.length > 0 && (
          <p>
            {messages.flag.neededBy}{' '}
            {children.map((child, nth) => (
              <span key={child}>
                {nth > 0 && ', '}
                {flagLink(child)}
              </span>
            ))}
          </p>
        )}
        {dependencies.length + children.length === 0 && (
          <p className={styles['muted']}>{messages.flag.noDependencies}</p>
        )}
      </section>
      {dialog === 'edit' && <EditDialog {...{ feature, project }} onClose={close} />}
      {dialog === 'tag' && <TagDialog feature={feature} onClose={close} />}
      {dialog === 'parent' && <ParentDialog {...{ feature, project }} onClose={close} />}
    </aside>
  );
};
