import {
  CreateContextField,
  type CreateContextFieldBody,
  CreateSegment,
  type CreateSegmentBody,
  type ExportedFeatures,
  ListContextFields,
  permissionsFor,
} from '@bunting/contracts';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { ApiError } from '../../../api/api-error.ts';
import { call } from '../../../api/call.ts';
import { useMayCall } from '../../../api/permissions.ts';
import { useSegmentSummaries } from '../../../api/queries-and-mutations.ts';
import { Button } from '../../../components/buttons/button.tsx';
import { ErrorNotice, Notice } from '../../../components/content/notice.tsx';
import { notify } from '../../../shell/toasts.tsx';
import { formatCount } from '../../../text/format-number.ts';
import { isolated } from '../../../text/isolated.ts';
import { missingPermission } from '../../../text/permission-words.ts';
import { NameList } from '../name-list.tsx';
import { parseSegments } from './export-file.ts';
import { FileField } from './file-field.tsx';

/** The names of the segments that an export uses and that do not exist here; undefined until that is known. */
export function useMissingSegments(data: ExportedFeatures | undefined): readonly string[] | undefined {
  const known = useSegmentSummaries({ isNeeded: (data?.segments ?? []).length > 0 }).data?.segments;
  const names = new Set((known ?? []).map(({ name }) => name));
  return known && (data?.segments ?? []).map(({ name }) => name).filter((name) => !names.has(name));
}

interface MissingSegmentsProps {
  readonly names: readonly string[];
  readonly exported: ExportedFeatures;
  readonly project: string;
  readonly onCreated: () => void;
}

/** Creates a segment. @throws ApiError that names the segment */
async function createSegment(body: CreateSegmentBody): Promise<void> {
  try {
    await call(CreateSegment, { body });
  } catch (error) {
    if (error instanceof ApiError) error.message = `Segment “${isolated(body.name)}”: ${error.message}`;
    throw error;
  }
}

/** Creates segments, and before them the context fields that they compare and that are missing, as the export describes these. */
async function createSegments(bodies: readonly CreateSegmentBody[], { contextFields = [] }: ExportedFeatures) {
  const known = new Set((await call(ListContextFields, {})).map(({ name }) => name));
  const compared = new Set(bodies.flatMap(({ constraints }) => constraints.map(({ contextName }) => contextName)));
  const described = new Map(contextFields.map((field) => [field.name, field]));
  for (const name of [...compared].filter((one) => !known.has(one))) {
    const { description, stickiness, legalValues } = described.get(name) ?? {};
    const body = { name, description, stickiness, legalValues } as CreateContextFieldBody;
    await call(CreateContextField, { body });
  }
  for (const body of bodies) await createSegment(body);
}

/** The segments that an export names and that do not exist here, with a field for the file that has their constraints. */
export function MissingSegments({ names, exported, project, onCreated }: MissingSegmentsProps) {
  const mayCall = useMayCall();
  const [text, setText] = useState('');
  const parsed = text === '' ? undefined : parseSegments(text);
  const found = (parsed?.kind === 'segments' ? parsed.segments : []).filter(({ name }) => names.includes(name));
  const lacking = names.filter((name) => !found.some((segment) => segment.name === name));
  const create = useMutation({
    mutationFn: () =>
      createSegments(
        found.map((segment) => ({ ...segment, project: segment.project == null ? null : project })),
        exported,
      ),
    onSuccess: () => {
      notify(`${formatCount(found.length, 'segment')} created.`);
      onCreated();
    },
  });
  return (
    <>
      <Notice tone="danger">
        <strong>{formatCount(names.length, 'segment')} that the flags use do not exist here</strong>
        <NameList names={names} />
        <p>An export has the names of segments, and not their constraints.</p>
      </Notice>
      {mayCall(CreateSegment, { project }) ? (
        <>
          <FileField
            label="File of the segments"
            hint="What the Unleash server answers at /api/admin/segments, as JSON"
            onText={setText}
          />
          {parsed?.kind === 'fault' && <Notice tone="danger">{parsed.message}</Notice>}
          {parsed?.kind === 'segments' && lacking.length > 0 && (
            <Notice tone="warning">It does not have {lacking.join(', ')}.</Notice>
          )}
          <ErrorNotice error={create.error} />
          <div>
            <Button isDisabled={found.length === 0} isPending={create.isPending} onPress={() => create.mutate()}>
              {found.length === 0 ? 'Create the segments' : `Create ${formatCount(found.length, 'segment')}`}
            </Button>
          </div>
        </>
      ) : (
        <p>You may not create segments: that takes {missingPermission(permissionsFor(CreateSegment))}.</p>
      )}
    </>
  );
}
