import {
  CreateTag,
  CreateTagType,
  DeleteTag,
  DeleteTagType,
  GetTagType,
  ListTagsOfType,
  ListTagTypes,
  type Tag,
  type TagTypeDescription,
  UpdateTagType,
} from '@bunting/contracts';
import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { call } from '../../../api/call.ts';
import { operationQuery } from '../../../api/queries-and-mutations.ts';
import { ConfirmOperationDialog } from '../../../components/dialogs/confirm-operation-dialog.tsx';
import { type RequestBodyField, RequestBodyDialog } from '../../../components/forms/request-body-form.tsx';
import { Button } from '../../../components/buttons/button.tsx';
import { QueryResult } from '../../../components/content/query-result.tsx';
import { MissingPermissionNotice } from '../../../components/resources/missing-permission-notice.tsx';
import { useMayCall } from '../../../api/use-may-call.ts';
import { ResourceList } from '../../../components/resources/resource-list.tsx';
import { sharedMessages } from '../../../messages/shared.ts';
import { tagsMessages as text } from '../../../messages/administration/tags.ts';
import { AdminPage } from '../admin-page.tsx';
import { UsingFlagsList, useUsingFlags } from '../../../components/resources/using-flags-list.tsx';
import layout from '../../../components/layout/layout.module.css';
import styles from '../admin.module.css';

const editableFields: readonly RequestBodyField[] = [
  { name: 'description', label: text.description, hint: text.descriptionHint, rows: 2 },
  { name: 'color', label: text.color, hint: text.colorHint, placeholder: '#2257c5' },
  { name: 'icon', label: text.icon, hint: text.iconHint },
];

/** The colour of a tag type; nothing where its text is not a CSS colour. */
const Swatch = ({ color }: { readonly color: string | null | undefined }) =>
  color != null && CSS.supports('color', color) ? (
    <span className={styles['swatch']} style={{ background: color }} aria-hidden="true" />
  ) : null;

const readStoredType = (name: string) => async () => {
  const value = await call(GetTagType, { params: { name } });
  return { value: value.tagType };
};

const EditType = ({ type, onClose }: { readonly type: TagTypeDescription; readonly onClose: () => void }) => (
  <RequestBodyDialog
    title={text.editType(type.name)}
    submit={sharedMessages.common.save}
    operation={UpdateTagType}
    request={{ params: { name: type.name } }}
    values={type}
    readStored={readStoredType(type.name)}
    fields={editableFields}
    notification={() => text.typeSaved(type.name)}
    onClose={onClose}
  />
);

const DeleteType = ({ name, onClose }: { readonly name: string; readonly onClose: () => void }) => {
  const tags = useQuery(operationQuery(ListTagsOfType, { params: { type: name } }));
  return (
    <ConfirmOperationDialog
      title={text.deleteTypeTitle(name)}
      confirm={text.deleteType}
      isDangerous
      typedName={name}
      operation={DeleteTagType}
      request={{ params: { name } }}
      notification={text.typeDeleted(name)}
      onClose={onClose}
    >
      <QueryResult query={tags}>{({ tags: found }) => <TagTypeUsage tags={found} />}</QueryResult>
    </ConfirmOperationDialog>
  );
};

/** The number of tags and flags that the deletion of a tag type affects, as a sentence. */
const TagTypeUsage = ({ tags }: { readonly tags: readonly Tag[] }) => {
  const list = tags.map(({ type, value }) => `${type}:${value}`).join(',');
  const flags = useUsingFlags({ tag: `INCLUDE_ANY_OF:${list}` });
  if (tags.length === 0) return <p>{text.deleteTypeHelp(0, 0)}</p>;
  return <QueryResult query={flags}>{({ total = 0 }) => <p>{text.deleteTypeHelp(tags.length, total)}</p>}</QueryResult>;
};

const TagTypes = () => {
  const types = useQuery({ ...operationQuery(ListTagTypes, {}), select: ({ tagTypes }) => tagTypes });
  const mayCall = useMayCall();
  const [dialog, setDialog] = useState<{
    readonly action: 'create' | 'edit' | 'delete';
    readonly type?: TagTypeDescription;
  }>();
  const close = (): void => setDialog(undefined);
  const createButton = mayCall(CreateTagType) && (
    <Button variant="primary" icon="add" onPress={() => setDialog({ action: 'create' })}>
      {text.createType}
    </Button>
  );
  return (
    <AdminPage id="tags" actions={createButton}>
      <MissingPermissionNotice operation={UpdateTagType} />
      <ResourceList
        label={text.types}
        query={types}
        rowKey={({ name }) => name}
        name={({ name }) => name}
        text={({ description }) => description ?? ''}
        columns={[
          {
            id: 'name',
            title: text.type,
            cell: ({ name, color }) => (
              <span className={layout['inline']}>
                <Swatch color={color} />
                <Link to="/admin/$section/$item" params={{ section: 'tags', item: name }}>
                  {name}
                </Link>
              </span>
            ),
          },
          { id: 'description', title: text.description, cell: ({ description }) => description },
        ]}
        actions={(type) => [
          ...(mayCall(UpdateTagType)
            ? [
                {
                  id: 'edit',
                  label: sharedMessages.common.edit,
                  icon: 'edit' as const,
                  run: () => setDialog({ action: 'edit', type }),
                },
              ]
            : []),
          ...(mayCall(DeleteTagType)
            ? [
                {
                  id: 'delete',
                  label: text.deleteType,
                  icon: 'remove' as const,
                  run: () => setDialog({ action: 'delete', type }),
                },
              ]
            : []),
        ]}
        empty={{ title: text.noTypes, help: text.noTypesHelp, action: createButton }}
      />
      {dialog?.action === 'create' && (
        <RequestBodyDialog
          title={text.createType}
          submit={sharedMessages.common.create}
          operation={CreateTagType}
          request={{}}
          values={{}}
          fields={[{ name: 'name', label: text.name, hint: text.nameHint }, ...editableFields]}
          notification={({ name }) => text.typeCreated(String(name))}
          onClose={close}
        />
      )}
      {dialog?.action === 'edit' && dialog.type !== undefined && <EditType type={dialog.type} onClose={close} />}
      {dialog?.action === 'delete' && dialog.type !== undefined && (
        <DeleteType name={dialog.type.name} onClose={close} />
      )}
    </AdminPage>
  );
};

const tagName = ({ type, value }: Tag): string => `${type}:${value}`;
/** The filter that finds the flags with a tag in the list of flags; quotes enclose a tag with blanks. */
const flagFilterOf = (tag: Tag): string => (/\s/.test(tagName(tag)) ? `"tag:${tagName(tag)}"` : `tag:${tagName(tag)}`);

const TagsOfType = ({ type }: { readonly type: string }) => {
  const stored = useQuery({
    ...operationQuery(GetTagType, { params: { name: type } }),
    select: ({ tagType }) => tagType,
  });
  const tags = useQuery({ ...operationQuery(ListTagsOfType, { params: { type } }), select: ({ tags: rows }) => rows });
  const mayCall = useMayCall();
  const [isCreating, setCreating] = useState(false);
  const [isEditing, setEditing] = useState(false);
  const [tagToDelete, setTagToDelete] = useState<Tag>();
  const createButton = (
    <Button variant="primary" icon="add" onPress={() => setCreating(true)}>
      {text.createTag}
    </Button>
  );
  return (
    <AdminPage
      id="tags"
      title={text.tags(type)}
      actions={
        <>
          {mayCall(UpdateTagType) && <Button onPress={() => setEditing(true)}>{sharedMessages.common.edit}</Button>}
          {createButton}
        </>
      }
    >
      <QueryResult query={stored}>
        {({ description, color }) => (
          <p className={layout['inline']}>
            <Swatch color={color} />
            {description}
          </p>
        )}
      </QueryResult>
      <ResourceList
        label={text.tags(type)}
        query={tags}
        rowKey={({ value }) => value}
        name={tagName}
        columns={[
          { id: 'value', title: text.value, cell: ({ value }) => <strong>{value}</strong> },
          {
            id: 'flags',
            title: sharedMessages.shell.flags,
            cell: (tag) => (
              <Link to="/flags" search={{ q: flagFilterOf(tag) }}>
                {text.findFlags}
              </Link>
            ),
          },
        ]}
        actions={(tag) =>
          mayCall(DeleteTag)
            ? [{ id: 'delete', label: text.deleteTag, icon: 'remove', run: () => setTagToDelete(tag) }]
            : []
        }
        empty={{ title: text.noTags, help: text.noTagsHelp, action: createButton }}
      />
      {isCreating && (
        <RequestBodyDialog
          title={text.createTag}
          submit={sharedMessages.common.create}
          operation={CreateTag}
          request={{}}
          values={{ type, value: '' }}
          fields={[{ name: 'value', label: text.value, hint: text.valueHint }]}
          notification={({ value }) => text.tagCreated(`${type}:${String(value)}`)}
          onClose={() => setCreating(false)}
        />
      )}
      {isEditing && stored.data !== undefined && <EditType type={stored.data} onClose={() => setEditing(false)} />}
      {tagToDelete !== undefined && (
        <ConfirmOperationDialog
          title={text.deleteTagTitle(tagName(tagToDelete))}
          confirm={text.deleteTag}
          isDangerous
          operation={DeleteTag}
          request={{ params: tagToDelete }}
          notification={text.tagDeleted(tagName(tagToDelete))}
          onClose={() => setTagToDelete(undefined)}
        >
          <p>{text.deleteTagHelp}</p>
          <UsingFlagsList
            query={{ tag: `INCLUDE:${tagName(tagToDelete)}` }}
            title={text.usedBy}
            emptyText={text.unused}
          />
        </ConfirmOperationDialog>
      )}
    </AdminPage>
  );
};

/** The types of tags, and the tags of one type. */
export const TagsPage = () => {
  const { item } = useParams({ strict: false }) as { readonly item?: string };
  return item === undefined ? <TagTypes /> : <TagsOfType key={item} type={item} />;
};
