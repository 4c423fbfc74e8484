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
import { type RequestBodyField, RequestBodyDialog } from '../../../components/forms/request-body-form.tsx';
import { Button } from '../../../components/buttons/button.tsx';
import { QueryResult } from '../../../components/content/query-result.tsx';
import { useMayCall } from '../../../api/permissions.ts';
import { AdminCatalogue, adminCrumbs } from '../admin-page.tsx';
import { UsingFlagsList, useUsingFlags } from '../../../components/resources/usage-list.tsx';
import layout from '../../../components/layout/layout.module.css';
import styles from '../admin.module.css';
import { formatCount } from '../../../text/format-number.ts';

const editableFields: readonly RequestBodyField[] = [
  { name: 'description', label: 'Description', hint: 'What tags of this type say of a flag', rows: 2 },
  { name: 'color', label: 'Colour', hint: 'Such as #2257c5; it is shown beside the name.', placeholder: '#2257c5' },
  { name: 'icon', label: 'Icon', hint: 'The name of an icon for clients that show one' },
];

/** The colour of a tag type; nothing where its text is not a CSS colour. */
function Swatch({ color }: { readonly color: string | null | undefined }) {
  return color != null && CSS.supports('color', color) ? (
    <span className={styles['swatch']} style={{ background: color }} aria-hidden="true" />
  ) : null;
}

async function storedType({ name }: TagTypeDescription) {
  return (await call(GetTagType, { params: { name } })).tagType;
}

function affectedText(tags: number, flags: number): string {
  return `Its ${formatCount(tags, 'tag')} and every use of them go with it: ${formatCount(flags, 'flag')} that you can see ${flags === 1 ? 'has' : 'have'} one.`;
}

/** The number of tags and flags that the deletion of a tag type affects, as a sentence. */
function TagTypeUsage({ name }: TagTypeDescription) {
  const tags = useQuery(operationQuery(ListTagsOfType, { params: { type: name } }));
  return (
    <QueryResult query={tags}>
      {({ tags: found }) => (found.length === 0 ? <p>{affectedText(0, 0)}</p> : <FlagsWithTags tags={found} />)}
    </QueryResult>
  );
}

function FlagsWithTags({ tags }: { readonly tags: readonly Tag[] }) {
  const flags = useUsingFlags({ tag: `INCLUDE_ANY_OF:${tags.map(tagName).join(',')}` });
  return <QueryResult query={flags}>{({ total = 0 }) => <p>{affectedText(tags.length, total)}</p>}</QueryResult>;
}

function TagTypes() {
  const types = useQuery({ ...operationQuery(ListTagTypes, {}), select: ({ tagTypes }) => tagTypes });
  return (
    <AdminCatalogue
      id="tags"
      noun="tag type"
      label="Tag types"
      query={types}
      rowKey={({ name }) => name}
      name={({ name }) => name}
      text={({ description }) => description ?? ''}
      columns={[
        {
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
        { title: 'Description', cell: ({ description }) => description },
      ]}
      create={{
        operation: CreateTagType,
        fields: [
          { name: 'name', label: 'Name', hint: '2 to 50 characters, such as team. It cannot be changed later.' },
          ...editableFields,
        ],
      }}
      edit={{
        operation: UpdateTagType,
        fields: editableFields,
        request: ({ name }) => ({ params: { name } }),
        stored: storedType,
      }}
      remove={{
        operation: DeleteTagType,
        label: 'Delete the type',
        asksForName: true,
        request: ({ name }) => ({ params: { name } }),
        usage: (type) => <TagTypeUsage {...type} />,
      }}
      empty={{
        title: 'No tag types yet',
        help: 'A tag type groups tags, such as team or customer, so that flags can be found by them.',
      }}
    />
  );
}

function tagName({ type, value }: Tag): string {
  return `${type}:${value}`;
}
/** The filter that finds the flags with a tag in the list of flags; quotes enclose a tag with blanks. */
function flagFilterOf(tag: Tag): string {
  return /\s/.test(tagName(tag)) ? `"tag:${tagName(tag)}"` : `tag:${tagName(tag)}`;
}

function TagsOfType({ type }: { readonly type: string }) {
  const stored = useQuery({
    ...operationQuery(GetTagType, { params: { name: type } }),
    select: ({ tagType }) => tagType,
  });
  const tags = useQuery({ ...operationQuery(ListTagsOfType, { params: { type } }), select: ({ tags: rows }) => rows });
  const mayCall = useMayCall();
  const [isEditing, setEditing] = useState(false);
  return (
    <QueryResult query={stored} page="tag type" crumbs={adminCrumbs('tags', true)}>
      {({ description, color }) => (
        <AdminCatalogue
          id="tags"
          noun="tag"
          label={`Tags of the type “${type}”`}
          title={`Tags of the type “${type}”`}
          buttons={mayCall(UpdateTagType) && <Button onPress={() => setEditing(true)}>Edit</Button>}
          above={
            <p className={layout['inline']}>
              <Swatch color={color} />
              {description}
            </p>
          }
          below={
            isEditing &&
            stored.data !== undefined && (
              <RequestBodyDialog
                title={`Edit the tag type “${type}”`}
                submit="Save"
                operation={UpdateTagType}
                request={{ params: { name: type } }}
                values={stored.data}
                readStored={async () => ({ value: await storedType({ name: type } as TagTypeDescription) })}
                fields={editableFields}
                notification={() => `The tag type ${type} is saved.`}
                onClose={() => setEditing(false)}
              />
            )
          }
          query={tags}
          rowKey={({ value }) => value}
          name={tagName}
          columns={[
            { title: 'Value', cell: ({ value }) => <strong>{value}</strong> },
            {
              title: 'Flags',
              cell: (tag) => (
                <Link to="/flags" search={{ q: flagFilterOf(tag) }}>
                  Find its flags
                </Link>
              ),
            },
          ]}
          create={{
            operation: CreateTag,
            values: { type, value: '' },
            notification: ({ value }) => `The tag ${type}:${String(value)} is created.`,
            fields: [{ name: 'value', label: 'Value', hint: '2 to 50 characters, such as web' }],
          }}
          remove={{
            operation: DeleteTag,
            label: 'Delete the tag',
            request: (tag) => ({ params: tag }),
            usage: (tag) => (
              <>
                <p>It is taken from every flag that has it.</p>
                <UsingFlagsList
                  query={{ tag: `INCLUDE:${tagName(tag)}` }}
                  title={(n) => `Used by ${formatCount(n, 'flag')}`}
                  emptyText="No flag that you can see has it."
                />
              </>
            ),
          }}
          empty={{
            title: 'No tags of this type yet',
            help: 'Create one here, or give a flag one: it appears here then.',
          }}
        />
      )}
    </QueryResult>
  );
}

/** The types of tags, and the tags of one type. */
export function TagsPage() {
  const { item } = useParams({ strict: false }) as { readonly item?: string };
  return item === undefined ? <TagTypes /> : <TagsOfType key={item} type={item} />;
}
