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
import { AdminPage } from '../admin-page.tsx';
import { UsingFlagsList, useUsingFlags } from '../../../components/resources/using-flags-list.tsx';
import layout from '../../../components/layout/layout.module.css';
import styles from '../admin.module.css';
import { formatCount } from '../../../text/format-number.ts';

const texts = {
  deleteTypeHelp: (tags: number, flags: number) =>
    `Its ${formatCount(tags, 'tag')} and every use of them go with it: ${formatCount(flags, 'flag')} that you can see ${flags === 1 ? 'has' : 'have'} one.`,
} as const;

const editableFields: readonly RequestBodyField[] = [
  { name: 'description', label: 'Description', hint: 'What tags of this type say of a flag', rows: 2 },
  { name: 'color', label: 'Colour', hint: 'Such as #2257c5; it is shown beside the name.', placeholder: '#2257c5' },
  { name: 'icon', label: 'Icon', hint: 'The name of an icon for clients that show one' },
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
    title={`Edit the tag type “${type.name}”`}
    submit="Save"
    operation={UpdateTagType}
    request={{ params: { name: type.name } }}
    values={type}
    readStored={readStoredType(type.name)}
    fields={editableFields}
    notification={() => `The tag type ${type.name} is saved.`}
    onClose={onClose}
  />
);

const DeleteType = ({ name, onClose }: { readonly name: string; readonly onClose: () => void }) => {
  const tags = useQuery(operationQuery(ListTagsOfType, { params: { type: name } }));
  return (
    <ConfirmOperationDialog
      title={`Delete the tag type “${name}”`}
      confirm="Delete the type"
      isDangerous
      typedName={name}
      operation={DeleteTagType}
      request={{ params: { name } }}
      notification={`The tag type ${name} is deleted.`}
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
  if (tags.length === 0) return <p>{texts.deleteTypeHelp(0, 0)}</p>;
  return (
    <QueryResult query={flags}>{({ total = 0 }) => <p>{texts.deleteTypeHelp(tags.length, total)}</p>}</QueryResult>
  );
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
      Create a tag type
    </Button>
  );
  return (
    <AdminPage id="tags" actions={createButton}>
      <MissingPermissionNotice operation={UpdateTagType} />
      <ResourceList
        label="Tag types"
        query={types}
        rowKey={({ name }) => name}
        name={({ name }) => name}
        text={({ description }) => description ?? ''}
        columns={[
          {
            id: 'name',
            title: 'Tag type',
            cell: ({ name, color }) => (
              <span className={layout['inline']}>
                <Swatch color={color} />
                <Link to="/admin/$section/$item" params={{ section: 'tags', item: name }}>
                  {name}
                </Link>
              </span>
            ),
          },
          { id: 'description', title: 'Description', cell: ({ description }) => description },
        ]}
        actions={(type) => [
          ...(mayCall(UpdateTagType)
            ? [
                {
                  id: 'edit',
                  label: 'Edit',
                  icon: 'edit' as const,
                  run: () => setDialog({ action: 'edit', type }),
                },
              ]
            : []),
          ...(mayCall(DeleteTagType)
            ? [
                {
                  id: 'delete',
                  label: 'Delete the type',
                  icon: 'remove' as const,
                  run: () => setDialog({ action: 'delete', type }),
                },
              ]
            : []),
        ]}
        empty={{
          title: 'No tag types yet',
          help: 'A tag type groups tags, such as team or customer, so that flags can be found by them.',
          action: createButton,
        }}
      />
      {dialog?.action === 'create' && (
        <RequestBodyDialog
          title="Create a tag type"
          submit="Create"
          operation={CreateTagType}
          request={{}}
          values={{}}
          fields={[
            { name: 'name', label: 'Name', hint: '2 to 50 characters, such as team. It cannot be changed later.' },
            ...editableFields,
          ]}
          notification={({ name }) => `The tag type ${String(name)} is created.`}
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
      Create a tag
    </Button>
  );
  return (
    <AdminPage
      id="tags"
      title={`Tags of the type “${type}”`}
      actions={
        <>
          {mayCall(UpdateTagType) && <Button onPress={() => setEditing(true)}>Edit</Button>}
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
        label={`Tags of the type “${type}”`}
        query={tags}
        rowKey={({ value }) => value}
        name={tagName}
        columns={[
          { id: 'value', title: 'Value', cell: ({ value }) => <strong>{value}</strong> },
          {
            id: 'flags',
            title: 'Flags',
            cell: (tag) => (
              <Link to="/flags" search={{ q: flagFilterOf(tag) }}>
                Find its flags
              </Link>
            ),
          },
        ]}
        actions={(tag) =>
          mayCall(DeleteTag)
            ? [{ id: 'delete', label: 'Delete the tag', icon: 'remove', run: () => setTagToDelete(tag) }]
            : []
        }
        empty={{
          title: 'No tags of this type yet',
          help: 'Create one here, or give a flag one: it appears here then.',
          action: createButton,
        }}
      />
      {isCreating && (
        <RequestBodyDialog
          title="Create a tag"
          submit="Create"
          operation={CreateTag}
          request={{}}
          values={{ type, value: '' }}
          fields={[{ name: 'value', label: 'Value', hint: '2 to 50 characters, such as web' }]}
          notification={({ value }) => `The tag ${`${type}:${String(value)}`} is created.`}
          onClose={() => setCreating(false)}
        />
      )}
      {isEditing && stored.data !== undefined && <EditType type={stored.data} onClose={() => setEditing(false)} />}
      {tagToDelete !== undefined && (
        <ConfirmOperationDialog
          title={`Delete the tag “${tagName(tagToDelete)}”`}
          confirm="Delete the tag"
          isDangerous
          operation={DeleteTag}
          request={{ params: tagToDelete }}
          notification={`The tag ${tagName(tagToDelete)} is deleted.`}
          onClose={() => setTagToDelete(undefined)}
        >
          <p>It is taken from every flag that has it.</p>
          <UsingFlagsList
            query={{ tag: `INCLUDE:${tagName(tagToDelete)}` }}
            title={(n) => `Used by ${formatCount(n, 'flag')}`}
            emptyText="No flag that you can see has it."
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
